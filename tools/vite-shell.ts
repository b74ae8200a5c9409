/**
 * The Vite plugin that makes the build installable: it compiles the service worker with the list of
 * the build's own files in it, writes the policy into the page, and the licences of what the build
 * holds.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin, type ResolvedConfig, type Rolldown } from 'vite';
import { clientMetadataFile } from './client-metadata.ts';
import { META_POLICY } from './headers.ts';
import { licences } from './licences.ts';

/** Files above this are fetched when they are first used: engines, not screens. */
const LAZY_ABOVE = 400 * 1024;
/** Of `public/`: shown by the browser when it offers the installation, never by the app. */
const NOT_KEPT = /^\/(screenshots\/|_headers$|robots\.txt$)|\/\./;

interface BuiltFile {
  readonly path: string;
  readonly bytes: number;
  readonly hash: string;
}

const builtFile = (file: string, data: string | Uint8Array): BuiltFile => ({
  path: file === 'index.html' ? '/' : `/${file.split(path.sep).join('/')}`,
  bytes: Buffer.byteLength(data),
  hash: createHash('sha256').update(data).digest('hex'),
});

async function publicFiles(folder: string): Promise<BuiltFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = path.join(entry.parentPath, entry.name);
        return builtFile(path.relative(folder, file), await readFile(file));
      }),
  );
}

/** Compiles the worker to one classic script. */
async function compileWorker(root: string, info: unknown): Promise<string> {
  const result = (await build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { __BUILD__: JSON.stringify(info) },
    build: {
      write: false,
      target: 'es2023',
      rolldownOptions: {
        input: path.join(root, 'src/sw/sw.ts'),
        output: { format: 'iife', entryFileNames: 'sw.js', codeSplitting: false },
      },
    },
  })) as Rolldown.RolldownOutput;
  return result.output[0].code;
}

export function shell(): Plugin {
  let config: ResolvedConfig;
  return {
    name: 'deft-shell',
    apply: 'build',
    configResolved(resolved) {
      config = resolved;
    },
    transformIndexHtml: {
      order: 'pre',
      handler: () => [
        {
          tag: 'meta',
          attrs: { 'http-equiv': 'Content-Security-Policy', content: META_POLICY },
          injectTo: 'head-prepend',
        },
      ],
    },
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const licenceTexts = await licences(config.root);
        this.emitFile({ type: 'asset', fileName: 'licences.txt', source: licenceTexts });
        const files = [
          builtFile('licences.txt', licenceTexts),
          ...Object.entries(bundle)
            .filter(([name]) => !name.startsWith('.vite/') && name !== 'licences.txt')
            .map(([name, output]) =>
              builtFile(name, output.type === 'chunk' ? output.code : output.source),
            ),
          ...(await publicFiles(config.publicDir)),
        ]
          .filter((file) => !NOT_KEPT.test(file.path))
          .sort((a, b) => (a.path < b.path ? -1 : 1));
        const small = files.filter((file) => file.bytes <= LAZY_ABOVE);
        const version = createHash('sha256')
          .update(files.map((file) => `${file.path} ${file.hash}`).join('\n'))
          .digest('hex')
          .slice(0, 12);
        const source = await compileWorker(config.root, {
          version,
          shell: small.map((file) => file.path),
          lazy: files.filter((file) => !small.includes(file)).map((file) => file.path),
        });
        this.emitFile({ type: 'asset', fileName: 'sw.js', source });
        // Not kept for offline: authorization servers read it, and the app only while it signs in.
        const document = clientMetadataFile(process.env.DEFT_ORIGIN);
        if (document) this.emitFile({ type: 'asset', ...document });
      },
    },
  };
}
