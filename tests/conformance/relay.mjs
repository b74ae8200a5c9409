/**
 * The command that the official suite runs as its client: hands the scenario to the driver that
 * waits, in Node or in a page, and ends when that has played it.
 */
const { DEFT_DRIVER, MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT } = process.env;

const response = await fetch(DEFT_DRIVER, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    scenario: MCP_CONFORMANCE_SCENARIO,
    url: process.argv.at(-1),
    version: process.env.MCP_CONFORMANCE_PROTOCOL_VERSION,
    context: JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}'),
  }),
});
process.stderr.write(await response.text());
process.exit(response.ok ? 0 : 1);
