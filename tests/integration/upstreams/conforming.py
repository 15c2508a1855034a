"""A server with what the protocol's own conformance tests call: over standard input and output, or `--http PORT`."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

PIXEL = "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
PERSON = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}}}},
    "type": "object",
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
TITLED = [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]
CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2"]},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}
Given = dict[str, Any]
Tool = Callable[[Any, Given], Awaitable[list[Any]]]


def text(value: str) -> types.TextContent:
    return types.TextContent(type="text", text=value)


def resource(uri: str, kind: str, value: str) -> types.EmbeddedResource:
    inner = types.TextResourceContents(uri=uri, mime_type=kind, text=value)
    return types.EmbeddedResource(type="resource", resource=inner)


def always(*content: Any) -> Tool:
    async def tool(_context: Any, _given: Given) -> list[Any]:
        return list(content)

    return tool


def asking(schema: Given) -> Tool:
    async def tool(context: Any, given: Given) -> list[Any]:
        message = given.get("message", "Fill in the form.")
        got = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
        return [text(f"action={got.action}, content={json.dumps(got.content)}")]

    return tool


async def logs(context: Any, _given: Given) -> list[Any]:
    for line in ("begins", "goes on", "is done"):
        params = {"level": "info", "data": line}
        await context.session.send_notification(
            types.LoggingMessageNotification(params=types.LoggingMessageNotificationParams(**params)),
            related_request_id=context.request_id,
        )
    return [text("logged")]


async def progresses(context: Any, _given: Given) -> list[Any]:
    token = (context.meta or {}).get("progress_token")
    for step in (0, 50, 100):
        await context.session.send_progress_notification(token, step, 100, related_request_id=str(context.request_id))
    return [text("progressed")]


async def samples(context: Any, given: Given) -> list[Any]:
    message = types.SamplingMessage(role="user", content=text(given["prompt"]))
    got = await context.session.create_message([message], max_tokens=10, related_request_id=context.request_id)
    return [text(got.content.text)]


async def fails(_context: Any, _given: Given) -> list[Any]:
    raise ValueError("it fails on purpose")


NONE = {"type": "object", "properties": {}}
ONE = {"type": "object", "properties": {"message": {"type": "string"}, "prompt": {"type": "string"}}}
IMAGE = types.ImageContent(type="image", data=PIXEL, mime_type="image/gif")
TOOLS: dict[str, tuple[Given, Tool]] = {
    "test_simple_text": (NONE, always(text("simple"))),
    "test_image_content": (NONE, always(IMAGE)),
    "test_audio_content": (NONE, always(types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav"))),
    "test_embedded_resource": (NONE, always(resource("test://embedded-resource", "text/plain", "embedded"))),
    "test_multiple_content_types": (
        NONE,
        always(text("several"), IMAGE, resource("test://mixed-content-resource", "application/json", "{}")),
    ),
    "test_tool_with_logging": (NONE, logs),
    "test_tool_with_progress": (NONE, progresses),
    "test_error_handling": (NONE, fails),
    "test_sampling": (ONE, samples),
    "test_elicitation": (ONE, asking(WORD)),
    "test_elicitation_sep1034_defaults": (NONE, asking(DEFAULTS)),
    "test_elicitation_sep1330_enums": (NONE, asking(CHOICES)),
    "test_reconnection": (NONE, always(text("connected"))),
    "json_schema_2020_12_tool": (PERSON, always(text("a person"))),
}
PROMPTS: dict[str, tuple[list[str], Callable[[Given], list[Any]]]] = {
    "test_simple_prompt": ([], lambda _given: [text("simple")]),
    "test_prompt_with_arguments": (["arg1", "arg2"], lambda given: [text(f"{given['arg1']} and {given['arg2']}")]),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"],
        lambda given: [resource(given["resourceUri"], "text/plain", "embedded"), text("read it")],
    ),
    "test_prompt_with_image": ([], lambda _given: [IMAGE, text("look at it")]),
}
RESOURCES = {"test://static-text": "text", "test://static-binary": PIXEL, "test://watched-resource": "watched"}


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema=schema) for name, (schema, _) in TOOLS.items()]
    )


async def call_tool(context: Any, params: Any) -> types.CallToolResult:
    try:
        return types.CallToolResult(content=await TOOLS[params.name][1](context, params.arguments or {}))
    except ValueError as fault:
        return types.CallToolResult(content=[text(str(fault))], is_error=True)


async def list_resources(_context: Any, _params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(uri=uri, name=uri[7:]) for uri in RESOURCES])


async def list_templates(_context: Any, _params: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(_context: Any, params: Any) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://static-binary":
        found: Any = types.BlobResourceContents(uri=uri, mime_type="image/gif", blob=PIXEL)
    else:
        kind = "application/json" if "template" in uri else "text/plain"
        value = json.dumps({"id": uri.split("/")[3]}) if "template" in uri else RESOURCES[uri]
        found = types.TextResourceContents(uri=uri, mime_type=kind, text=value)
    return types.ReadResourceResult(contents=[found])


async def list_prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=name,
                arguments=[types.PromptArgument(name=each, required=True) for each in names],
            )
            for name, (names, _) in PROMPTS.items()
        ]
    )


async def get_prompt(_context: Any, params: Any) -> types.GetPromptResult:
    content = PROMPTS[params.name][1](params.arguments or {})
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in content])


async def complete(_context: Any, _params: Any) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["one"], total=1, has_more=False))


async def nothing(_context: Any, _params: Any) -> types.EmptyResult:
    return types.EmptyResult()


def made() -> Server[Any]:
    return Server(
        "conforming", on_list_tools=list_tools, on_call_tool=call_tool, on_list_resources=list_resources,
        on_list_resource_templates=list_templates, on_read_resource=read_resource, on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing, on_list_prompts=list_prompts, on_get_prompt=get_prompt,
        on_completion=complete, on_set_logging_level=nothing,
    )  # fmt: skip


async def over_pipes() -> None:
    server = made()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    if "--http" not in sys.argv:
        anyio.run(over_pipes)
        return
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    port = int(sys.argv[sys.argv.index("--http") + 1])
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    checks = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    app = made().streamable_http_app(streamable_http_path="/mcp", transport_security=checks)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="info", access_log=False)


if __name__ == "__main__":
    main()
