"""A real service behind HTTP as a black box: its calls by hand, and from an OpenAPI file."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bbfalsify import UserError, check, load_system
from bbfalsify.systems import SystemDied
from bbfalsify.testing import check_system


class Shop(BaseHTTPRequestHandler):
    """One item that is made, read and deleted; deleting it twice is an error of the server (500)."""

    exists, deleted = False, 0

    def answer(self, status, data=None):
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):  # noqa: N802
        size = int(self.headers.get("Content-Length") or 0)
        data = json.loads(self.rfile.read(size) or b"null")
        if self.path == "/reset":
            Shop.exists, Shop.deleted = False, 0
            return self.answer(204 if data is None else 400)
        Shop.exists = True
        return self.answer(201, {"name": data["name"], "owner": {"id": 3}})

    def do_GET(self):  # noqa: N802
        self.answer(200 if Shop.exists else 404, {"name": "tea"})

    def do_DELETE(self):  # noqa: N802
        Shop.deleted += not Shop.exists
        Shop.exists = False
        self.answer(500 if Shop.deleted > 1 else 200)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


SHOP = """
format_version: 1
base: ADDRESS
reset: {post: /reset}
calls:
  make: {post: /items, json: {name: tea}, shows: [name, owner.id]}
  read: {get: /items/1}
  delete: {delete: /items/1}
"""
OPENAPI = {
    "openapi": "3.0.0",
    "paths": {
        "/items": {
            "post": {
                "operationId": "make",
                "requestBody": {"required": True, "content": {"application/json": {"example": {"name": "tea"}}}},
            }
        },
        "/items/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"default": 1}}],
            "get": {"operationId": "read"},
            "delete": {},
        },
    },
}


def service(folder, text):
    (folder / "shop.yaml").write_text(text)
    return load_system("http:shop.yaml", folder)


def test_calls_are_symbols_and_answers_are_outputs(tmp_path, address):
    system = service(tmp_path, SHOP.replace("ADDRESS", address))
    assert (system.name, system.alphabet) == ("shop", ("make", "read", "delete"))
    for _ in range(2):
        with system.open(0) as session:
            said = [session.step(symbol) for symbol in ("read", "make", "read", "delete", "delete", "delete")]
        assert said == ["404", "201 name=tea owner.id=3", "200", "200", "200", "500"]
    check_system(system)


def test_a_service_is_checked(tmp_path, address):
    system = service(tmp_path, SHOP.replace("ADDRESS", address))
    result = check(system, "G(!(out == 500))", max_states=4, out=None)
    [row] = result.requirements
    assert row.verdict == "violated" and row.prefix[-1] == "delete"


def test_calls_from_an_openapi_file(tmp_path, address):
    (tmp_path / "openapi.json").write_text(json.dumps(OPENAPI))
    text = f"format_version: 1\nbase: {address}\nreset: {{post: /reset}}\nopenapi: openapi.json\n"
    system = service(tmp_path, text)
    assert system.alphabet == ("make", "read", "delete /items/{id}")
    assert system.calls["read"].path == "/items/1"
    with system.open(0) as session:
        assert [session.step(symbol) for symbol in ("make", "read")] == ["201", "200"]


def test_a_description_is_validated_without_a_service(tmp_path):
    from bbfalsify.cli.validate import check_file

    (tmp_path / "shop.yaml").write_text(SHOP.replace("ADDRESS", "http://localhost"))
    assert check_file(tmp_path / "shop.yaml")[:2] == ("service", "3 calls")


def test_an_operation_without_examples_is_named(tmp_path):
    spoilt = json.loads(json.dumps(OPENAPI))
    spoilt["paths"]["/items/{id}"]["parameters"][0]["schema"] = {}
    (tmp_path / "openapi.json").write_text(json.dumps(spoilt))
    with pytest.raises(UserError, match="operation 'read': parameter 'id' has no example and no default"):
        service(tmp_path, "format_version: 1\nbase: http://localhost\nopenapi: openapi.json\n")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param("get: /items/1", "gte: /items/1", "unknown key 'gte'", id="key"),
        pytest.param("get: /items/1", "get: items/1", "a path begins with '/'", id="path"),
        pytest.param("base: ADDRESS", "base: ftp://x", "the base of a service is http", id="base"),
        pytest.param("read: {get: /items/1}", "read: {shows: [a]}", "exactly one method", id="method"),
    ],
)
def test_wrong_descriptions_are_named(tmp_path, old, new, said):
    assert old in SHOP
    with pytest.raises(UserError, match=said):
        service(tmp_path, SHOP.replace(old, new).replace("ADDRESS", "http://localhost"))


def test_a_service_that_is_not_there_is_a_failure(tmp_path):
    system = service(tmp_path, SHOP.replace("ADDRESS", "http://127.0.0.1:1"))
    with pytest.raises(SystemDied, match="post /reset failed"):
        system.open(0)
