"""PostgreSQL and Valkey for a machine that has neither, run from wheels. Importing starts nothing."""
