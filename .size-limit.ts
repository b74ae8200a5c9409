import { firstScreenFiles } from './tools/first-screen.ts';

/** The first screen, with gzip: page, scripts and styles that it waits for. */
export default [
  {
    name: 'first screen',
    path: firstScreenFiles('dist'),
    gzip: true,
    limit: '120 KB',
  },
];
