"""Which permission a command needs. The command itself asks, so that no face can forget to."""

OPERATE = "generation.operate_book"
STOP = "generation.stop_book"
CONFIGURE = "generation.configure_layers"
EDIT = "generation.change_scene"
QUOTAS = "generation.change_stageconfig"
IMPORT = "generation.add_book"
DELETE_SCENES = "generation.delete_scene"
