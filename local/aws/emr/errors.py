"""The errors of the EMR Serverless API, named and numbered as its service model does."""


class ServiceError(Exception):
    """An answer other than success; the class name is the error code, `status` the HTTP status."""

    status = 400

    @property
    def code(self) -> str:
        """The error's name on the wire."""
        return type(self).__name__


class ValidationException(ServiceError):
    """The request does not fit the model, or the resource's state."""


class AccessDeniedException(ServiceError):
    """The caller's policies do not allow what the request implies."""

    status = 403


class ResourceNotFoundException(ServiceError):
    """There is no such application, job run or tagged resource."""

    status = 404


class NotEmulated(ValidationException):
    """AWS can do this, the local service cannot; refused, because doing something else would be a lie."""

    def __init__(self, what: str) -> None:
        super().__init__(f"The local AWS does not have {what} for EMR Serverless")

    @property
    def code(self) -> str:
        """What a client sees."""
        return ValidationException.__name__
