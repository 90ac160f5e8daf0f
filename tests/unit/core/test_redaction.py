"""Secrets are found in every form in which programs repeat them."""

import base64
import json
import shlex
import urllib.parse

import pytest

from bbfalsify.core.query import Answer
from bbfalsify.core.redaction import (
    HIDDEN,
    Redactor,
    forget_secrets,
    keep_secret,
    record_without_secrets,
    without_secrets,
)
from bbfalsify.core.verdict import SimulationStatus
from bbfalsify.records.json_files import format_json, one_line

SECRET = "pä\"ß/w'o\\rd 7&ü"


@pytest.fixture(autouse=True)
def secret():
    keep_secret([SECRET])
    yield
    forget_secrets()


FORMS = {
    "plain": SECRET,
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON with letters": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "JSON of PHP": json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    "JSON in JSON": json.dumps(json.dumps({"token": SECRET})),
    "repr": repr(SECRET),
    "repr of bytes": ascii(SECRET),
    "URL": urllib.parse.quote(SECRET),
    "form": urllib.parse.quote_plus(SECRET),
    "lower-case URL": urllib.parse.quote(SECRET).replace("%C3", "%c3").replace("%A4", "%a4").replace("%9F", "%9f")
    .replace("%5C", "%5c").replace("%BC", "%bc"),
    "HTML": "pä&quot;ß/w&#x27;o\\rd 7&amp;ü",
    "shell": shlex.quote(SECRET),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "basic authentication": base64.b64encode(f"user:{SECRET}:".encode()).decode(),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_found(name):
    cleaned = without_secrets(f"he said {FORMS[name]}!")
    assert HIDDEN in cleaned and not any(part in cleaned for part in ("rd", "cmQ", "yZC", "w'o")), cleaned


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_a_stream_that_is_cut_anywhere(name, piece):
    redactor, data = Redactor(), f"he said {FORMS[name]}, twice {FORMS[name]}".encode()
    shown = b"".join(redactor.feed(data[i : i + piece]) for i in range(0, len(data), piece)) + redactor.rest()
    assert shown == Redactor().clean(data) and shown.count(HIDDEN.encode()) >= 2 and b"rd" not in shown


def test_latin_letters_in_a_stream():
    assert Redactor().clean(SECRET.encode("latin-1")) == HIDDEN.encode()


def test_answers_and_records_have_none():
    answer = Answer(SimulationStatus.OK, message=f"no {SECRET}", symbols=("ok", SECRET), dissent=SECRET)
    assert (answer.message, answer.symbols, answer.dissent) == (f"no {HIDDEN}", ("ok", HIDDEN), HIDDEN)
    assert one_line({"a": [SECRET, 1]}) == '{"a":["***",1]}'
    assert format_json(record_without_secrets({"a": ("x", SECRET)})) == '{\n  "a": ["x", "***"]\n}'


def test_records_stay_readable_where_a_secret_is_a_word_of_ours():
    keep_secret(["violated", "1234"])
    data = {"verdict": "violated", "simulations": 1234, "note": "was violated"}
    assert record_without_secrets(data) == {"verdict": "violated", "simulations": 1234, "note": "was ***"}


def test_nothing_is_touched_without_secrets():
    forget_secrets()
    data = {"a": [SECRET]}
    assert without_secrets(data) is data and not Redactor().active
