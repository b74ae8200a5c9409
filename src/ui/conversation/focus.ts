/** Keeps the keyboard's focus in its place where the button that holds it goes away. */

/** Whether the focus is on the place or on something in it. */
export function holdsFocus(place: HTMLElement | undefined): boolean {
  return place?.contains(document.activeElement) ?? false;
}

/** Takes the focus back to a place that can be focused, where nothing else has it by now. */
export function regainFocus(place: HTMLElement | undefined): void {
  const { activeElement, body } = document;
  if (activeElement === null || activeElement === body) place?.focus({ preventScroll: true });
}
