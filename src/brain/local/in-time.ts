/** Questions to the browser that some browsers leave unanswered: nobody may wait for those for ever. */

/** Milliseconds after which a browser is not going to answer. */
const LONGEST_MS = 5_000;

/** What was asked for; `otherwise` where it fails or is not there within `ms` milliseconds. */
export async function inTime<T, U>(
  asked: Promise<T> | undefined,
  otherwise: U,
  ms = LONGEST_MS,
): Promise<T | U> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<U>((resolve) => {
    timer = setTimeout(resolve, ms, otherwise);
  });
  try {
    return await Promise.race([asked ?? otherwise, late]);
  } catch {
    return otherwise;
  } finally {
    clearTimeout(timer);
  }
}
