/** Evaluated before the engine. */
Reflect.deleteProperty(WebAssembly, 'Suspending');
Reflect.deleteProperty(WebAssembly, 'promising');
