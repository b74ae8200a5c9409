/**
 * The Vite plugin that turns wllama's inner worker into a file of the app.
 *
 * The package joins the worker's code at run time and starts it from a blob: address, which the
 * policy header forbids; and it takes its build for browsers without JSPI or Memory64 from a CDN.
 * Here the same sources, as the packages ship them, are joined while building, for both builds:
 * `virtual:wllama/standard` and `virtual:wllama/compat` export the addresses of `core` (the worker's
 * script) and `wasm`.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Plugin } from 'vite';

const require = createRequire(import.meta.url);
const main = path.dirname(require.resolve('@wllama/wllama/package.json'));
const compat = path.dirname(require.resolve('@wllama/wllama-compat/package.json'));

interface Build {
  readonly glue: string;
  readonly wasm: string;
}

const BUILDS: Readonly<Record<string, Build>> = {
  standard: {
    glue: path.join(main, 'src/wasm/wllama.js'),
    wasm: path.join(main, 'esm/wasm/wllama.wasm'),
  },
  compat: {
    glue: path.join(compat, 'wasm/wllama.js'),
    wasm: path.join(compat, 'wasm/wllama.wasm'),
  },
};

/**
 * What the package itself puts before its code: stand-ins where a browser has no JSPI, and no WebGPU,
 * for this engine is the one for the CPU. The options come in the worker's name. Asked for its debug
 * info, of which this version's own is empty, it tells the bytes of its linear memory.
 */
const HEAD = `
if (!WebAssembly.Suspending) {
  WebAssembly.Suspending = function (call) { return call; };
  WebAssembly.promising = (call) => async (...args) => call(...args);
}
Object.defineProperty(WorkerNavigator.prototype, 'gpu', {
  get: () => ({ requestAdapter: async () => null }),
});
const RUN_OPTIONS = JSON.parse(self.name);
let heap;
for (const name of ['instantiate', 'instantiateStreaming']) {
  const instantiate = WebAssembly[name];
  WebAssembly[name] = async (source, imports) => {
    const made = await instantiate(source, imports);
    const all = [...Object.values(imports ?? {}), (made.instance ?? made).exports];
    heap ??= all.flatMap((part) => Object.values(part)).find((it) => it instanceof WebAssembly.Memory);
    return made;
  };
}
self.addEventListener('message', (event) => {
  if (event.data.verb !== 'wllama.debug') return;
  event.stopImmediatePropagation();
  postMessage({ callbackId: event.data.callbackId, result: heap?.buffer.byteLength ?? 0 });
});
`;

/** The worker's script, joined as \`ProxyToWorker.moduleInit\` of the package joins it. */
function core(build: Build): string {
  const glue = readFileSync(build.glue, 'utf8').replace('var Module', 'var ___Module');
  const worker = readFileSync(path.join(main, 'src/workers-code/llama-cpp.js'), 'utf8');
  return `${HEAD}\nfunction wModuleInit() { ${glue}; return Module; }\n${worker}`;
}

const PREFIX = 'virtual:wllama/';
const AT = '/@wllama/';

export function wllama(): Plugin {
  let serving = false;
  return {
    name: 'deft-wllama',
    configResolved(config) {
      serving = config.command === 'serve';
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const [, name = '', kind] = /^\/@wllama\/(\w+)\.(js|wasm)$/.exec(request.url ?? '') ?? [];
        const build = BUILDS[name];
        if (!build) return next();
        response.setHeader('Content-Type', kind === 'js' ? 'text/javascript' : 'application/wasm');
        response.end(kind === 'js' ? core(build) : readFileSync(build.wasm));
      });
    },
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${PREFIX}`)) return null;
      const name = id.slice(PREFIX.length + 1);
      const build = BUILDS[name];
      if (!build) throw new Error(`There is no build of wllama called ${name}.`);
      if (serving)
        return `export const core = '${AT}${name}.js'; export const wasm = '${AT}${name}.wasm';`;
      const emit = (file: string, source: string | Uint8Array): string =>
        `import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'asset', name: file, source })}`;
      return `
        export const core = ${emit(`wllama-${name}-core.js`, core(build))};
        export const wasm = ${emit(`wllama-${name}-core.wasm`, readFileSync(build.wasm))};
      `;
    },
  };
}
