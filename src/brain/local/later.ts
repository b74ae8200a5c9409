/**
 * The phone's models, whose code is fetched behind the first screen: no screen waits for it, and nothing
 * that is drawn first needs it.
 */
import type { ModelsDeps } from './models.ts';
import type { Models } from './types.ts';

type Work = (...input: never[]) => Promise<unknown>;

/** The same as `createModels`; what is called early waits for the code. */
export function modelsLater(deps: ModelsDeps): Models {
  const models = import('./models.ts').then(({ createModels }) => createModels(deps));

  function subscribe(listener: () => void): () => void {
    let release: (() => void) | null = null;
    let over = false;
    models.then(
      (loaded) => {
        if (!over) release = loaded.subscribe(listener);
      },
      // Whoever calls for the models themselves is told.
      () => undefined,
    );
    return () => {
      over = true;
      release?.();
    };
  }

  return new Proxy({} as Models, {
    get(_none, name: keyof Models): unknown {
      if (name === 'subscribe') return subscribe;
      // It is no promise, whoever awaits it.
      if ((name as string) === 'then') return undefined;
      return async (...input: never[]): Promise<unknown> =>
        ((await models)[name] as Work)(...input);
    },
  });
}
