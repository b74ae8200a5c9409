/** What tools/vite-wllama.ts makes of wllama's packages: addresses of files of this app. */
declare module 'virtual:wllama/standard' {
  export const core: string;
  export const wasm: string;
}
declare module 'virtual:wllama/compat' {
  export const core: string;
  export const wasm: string;
}
