from memlane.aclient import AsyncClient
from memlane.client import Client
from tools import synchronous


def test_the_synchronous_sdk_is_what_the_asynchronous_one_makes():
    written = {file.name: file.read_text() for file in synchronous.TARGET.glob("*.py")}
    written.pop("__init__.py")

    assert written == synchronous.made()
    for name, text in written.items():
        assert text.startswith(f"# Made from memlane/asynchronous/{name} by ./dev fmt; change that.\n")


def test_both_clients_have_the_same_calls():
    def calls(client: type) -> set[str]:
        return {name for name in dir(client) if not name.startswith("_")}

    assert calls(Client) == calls(AsyncClient) - {"aclose"} | {"close"}
