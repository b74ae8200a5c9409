/**
 * Which files of the build the first screen waits for: the page, the entry's static import graph
 * (scripts and styles), from Vite's own manifest.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

/** Paths of those files, the page first. Throws where there is no build. */
export function firstScreenFiles(dist: string): string[] {
  const text = readFileSync(path.join(dist, '.vite/manifest.json'), 'utf8');
  const chunks = JSON.parse(text) as Record<string, Chunk>;
  const files = new Set(['index.html']);
  const seen = new Set<string>();
  const visit = (key: string): void => {
    const chunk = chunks[key];
    if (!chunk || seen.has(key)) return;
    seen.add(key);
    files.add(chunk.file);
    for (const css of chunk.css ?? []) files.add(css);
    for (const next of chunk.imports ?? []) visit(next);
  };
  for (const [key, chunk] of Object.entries(chunks)) if (chunk.isEntry) visit(key);
  return [...files].map((file) => path.join(dist, file));
}
