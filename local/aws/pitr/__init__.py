"""DynamoDB's point-in-time recovery and its exports: journal, files, API.

| module | job |
|---|---|
| journal | a table's history: any state, the net changes of any window |
| images, records, files, ion, oddities | how an export writes them, byte for byte; pure |
| offline | exports into a folder, without any server |
| requests | what is asked, and in which words it is refused; pure |
| capture, recovery, bucket, lifecycle, export, calls | hooks into the running local AWS |
"""

from typing import Any


def install() -> None:
    """Hook journal and calls into MiniStack's DynamoDB."""
    from local.aws.pitr import calls, capture

    capture.install()
    calls.install()


def reset() -> None:
    """Forget every journal and export."""
    from local.aws.pitr import lifecycle
    from local.aws.pitr.recovery import JOURNALS

    lifecycle.reset()
    JOURNALS.clear()


def get_state() -> dict[str, Any]:
    """Journals and exports as they are now; to be deep-copied at once, in one go: exports share their tables' journals."""
    from local.aws.pitr.lifecycle import EXPORTS
    from local.aws.pitr.recovery import JOURNALS

    return {"journals": dict(JOURNALS), "exports": dict(EXPORTS)}


def load_persisted_state(state: dict[str, Any]) -> None:
    """Put back what `get_state` gave; exports that were under way go on."""
    from local.aws.pitr import lifecycle
    from local.aws.pitr.recovery import JOURNALS

    JOURNALS.update(state["journals"])
    lifecycle.EXPORTS.update(state["exports"])
    lifecycle.resume()
