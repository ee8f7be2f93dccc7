"""Hooks: what no longer fits is said loudly."""

import types

import pytest

from local.aws import hooks


def _service() -> types.SimpleNamespace:
    def answer(question, *, politely=False):
        return (question, politely)

    return types.SimpleNamespace(answer=answer, constant=1)


def test_a_patch_replaces_the_function_and_keeps_its_signature_for_the_next_patch():
    service = _service()
    for word in ("inner", "outer"):
        hooks.patch(
            service,
            "answer",
            lambda original, word=word: lambda *a, **k: (word, original(*a, **k)),
            takes=("question", "politely"),
        )
    assert service.answer("why", politely=True) == ("outer", ("inner", ("why", True)))


@pytest.mark.parametrize(
    ("name", "takes", "says"),
    [
        pytest.param("gone", (), "not there", id="the function is gone"),
        pytest.param("constant", (), "cannot be called", id="it is no function any more"),
        pytest.param("answer", ("question",), r"takes \(question, politely\)", id="it takes something else"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(name, takes, says):
    with pytest.raises(hooks.HookMismatch, match=says):
        hooks.patch(_service(), name, lambda original: original, takes=takes)


def test_another_version_of_ministack_is_refused(monkeypatch):
    hooks.require_version()
    monkeypatch.setattr(hooks, "PINNED_VERSION", "0.0.1")
    with pytest.raises(hooks.HookMismatch, match=r"written for 0\.0\.1"):
        hooks.require_version()
