/** Whether the sheet of "Ask by voice" is open. Small, for it is part of the first screen. */
let sheet = $state(false);

/** Reactive. */
export const voice = {
  get open(): boolean {
    return sheet;
  },
  set open(value: boolean) {
    sheet = value;
  },
};
