/** A page that fetches the same files twice: with the app's downloads, and with nothing but fetch. */
import { download } from '../../../src/brain/local/downloads.ts';
import { removeFiles, stored } from '../../../src/brain/local/files.ts';
import type { CatalogueRow } from '../../../src/brain/local/types.ts';

export interface DownloadBench {
  /** Milliseconds until every file is verified and in its place. */
  app(row: CatalogueRow): Promise<number>;
  /** Milliseconds until the last byte was read, and thrown away. */
  bare(row: CatalogueRow): Promise<number>;
}

declare global {
  interface Window {
    downloadBench: DownloadBench;
  }
}

window.downloadBench = {
  async app(row) {
    await removeFiles(row);
    const start = performance.now();
    await download(row, { signal: new AbortController().signal, onProgress: () => undefined });
    const took = performance.now() - start;
    if (!(await stored(row)).complete) throw new Error('The download is not whole.');
    await removeFiles(row);
    return took;
  },

  async bare(row) {
    const start = performance.now();
    for (const { path, bytes } of row.files) {
      const { body } = await fetch(new URL(path, row.base), { cache: 'no-store' });
      let received = 0;
      for (const reader = body!.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        received += value.length;
      }
      if (received !== bytes) throw new Error(`${path} has ${received} bytes.`);
    }
    return performance.now() - start;
  },
};
