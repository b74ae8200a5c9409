/**
 * Runs the compiled library in the unmodified WebLLM, in Chromium on software WebGPU, and compares
 * its greedy texts and log-probabilities with torch's (reference.json). Some minutes on two cores.
 *
 *   npx tsx tools/gemma-webgpu/check/library.mjs [LIBRARY.wasm]
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, resolve } from 'node:path';
import { chromium } from 'playwright';
import { CHROMIUM_FLAGS, findChromium } from '../../chromium.ts';

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, '../../..');
const MODEL = join(ROOT, 'models/gemma-tools/webllm');
const LIBRARY = 'gemma3-270m-q8f32-webgpu.wasm';
/** Both sides compute in 32-bit floats, in another order. */
const TOLERANCE = 1e-4;

const library = resolve(process.argv[2] ?? join(MODEL, LIBRARY));
const prompts = JSON.parse(readFileSync(join(HERE, 'prompts.json'), 'utf8'));
const expected = JSON.parse(readFileSync(join(HERE, 'reference.json'), 'utf8'));

const TYPES = {
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.html': 'text/html',
};

function locate(pathname) {
  const [, first, ...rest] = pathname.replace('/resolve/main/', '/').split('/');
  if (rest.includes('..')) return null;
  if (first === 'model') return rest[0] === LIBRARY ? library : join(MODEL, ...rest);
  if (first === 'modules') return join(ROOT, 'node_modules', ...rest);
  return null;
}

const PAGE = '<!doctype html><title>Check</title>';

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://check');
  if (pathname === '/') return response.setHeader('content-type', 'text/html').end(PAGE);
  const file = locate(pathname);
  if (!file) return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
  createReadStream(file)
    .on('error', () => response.writeHead(404).end())
    .pipe(response);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const origin = `http://127.0.0.1:${server.address().port}`;

/** Runs in the page: the text and log-probabilities of each prompt. */
async function runPrompts({ prompts, library, maxTokens }) {
  const { CreateMLCEngine } = await import('/modules/@mlc-ai/web-llm/lib/index.js');
  const model = `${location.origin}/model/`;
  const engine = await CreateMLCEngine('gemma', {
    appConfig: { model_list: [{ model_id: 'gemma', model, model_lib: model + library }] },
  });
  const results = [];
  for (const prompt of prompts) {
    await engine.resetChat();
    const reply = await engine.completions.create({
      prompt: `<bos>${prompt}`,
      max_tokens: maxTokens,
      temperature: 1, // At 0 the probabilities would not be the model's own.
      top_p: 1e-5,
      logprobs: true,
      top_logprobs: 1,
    });
    const [{ text, logprobs }] = reply.choices;
    const values = logprobs.content.map((entry) => entry.logprob);
    results.push({ text, logprobs: values, promptTokens: reply.usage.prompt_tokens });
  }
  return results;
}

const browser = await chromium.launch({
  executablePath: findChromium() ?? undefined,
  args: CHROMIUM_FLAGS,
});
try {
  const page = await browser.newPage();
  await page.goto(origin);
  const maxTokens = expected[0].logprobs.length;
  const results = await page.evaluate(runPrompts, { prompts, library: LIBRARY, maxTokens });
  for (const [i, { text, logprobs, promptTokens }] of results.entries()) {
    const reference = expected[i];
    const differences = logprobs.map((value, k) => Math.abs(value - reference.logprobs[k]));
    const largest = Math.max(...differences);
    const right =
      text.length > 0 &&
      reference.text.startsWith(text) &&
      promptTokens === reference.promptTokens &&
      largest <= TOLERANCE;
    if (!right) process.exitCode = 1;
    console.log(
      `${right ? 'right' : 'WRONG'}: ${promptTokens} tokens, then ${JSON.stringify(text)}; ` +
        `log-probabilities differ by at most ${largest.toExponential(1)}`,
    );
  }
} finally {
  await browser.close();
  server.close();
}
