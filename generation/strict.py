"""Serializers that refuse what they do not know: a misspelled field would be left out without a word."""

from typing import Any

from rest_framework import serializers


class StrictSerializer(serializers.Serializer[Any]):
    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(map(str, data.keys() - self.fields.keys()))):
            raise serializers.ValidationError({name: ["This field is not known."] for name in unknown})
        return super().to_internal_value(data)


def first_error(errors: Any, where: str = "") -> str:
    """Return the first error of a serializer with its place, such as `scenes[3].text: This field is required.`"""
    if isinstance(errors, list):
        index, error = next((index, error) for index, error in enumerate(errors) if error)
        if isinstance(error, dict):
            return first_error(error, f"{where}[{index}]")
        return f"{where}: {error}" if where else str(error)
    field, error = next(iter(errors.items()))
    if isinstance(field, int):
        return first_error(error, f"{where}[{field}]")
    if field == "non_field_errors":
        return first_error(error, where)
    return first_error(error, f"{where}.{field}" if where else str(field))
