/** What the demo model's conversations are about: places, days, times, things to do, words. */

import type { Chance } from './chance.ts';

export const CITIES: readonly string[] = [
  ...'Delhi Goa Mumbai Pune Chennai Kolkata Bengaluru Hyderabad Jaipur Kochi Lucknow Ahmedabad Surat Indore'.split(
    ' ',
  ),
  ...'Bhopal Nagpur Patna Srinagar Varanasi Udaipur London Paris Tokyo Berlin Madrid Rome Cairo Sydney'.split(
    ' ',
  ),
  ...'Toronto Vienna Prague Lisbon Dublin Oslo Helsinki Warsaw Athens Istanbul Dubai Singapore Bangkok'.split(
    ' ',
  ),
  ...'Seoul Beijing Shanghai Boston Chicago Seattle Denver Austin Nairobi Lagos Lima Bogota Zurich Geneva'.split(
    ' ',
  ),
  ...'Munich Hamburg Milan Naples Barcelona Brussels Amsterdam Stockholm Copenhagen Budapest Manila'.split(
    ' ',
  ),
  ...'Jakarta Hanoi Doha Muscat Kathmandu Colombo Melbourne Auckland'.split(' '),
  'New York',
  'San Francisco',
  'Hong Kong',
  'Cape Town',
  'Mexico City',
  'Los Angeles',
];

const WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');
const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );

/** Days as people say them, with the words that stand before them in a sentence. */
export const DAYS: readonly { readonly said: string; readonly day: string }[] = [
  ...['today', 'tomorrow', 'the day after tomorrow'].map((day) => ({ said: day, day })),
  ...WEEKDAYS.flatMap((weekday) => [
    { said: `next ${weekday}`, day: `next ${weekday}` },
    { said: `next ${weekday}`, day: `next ${weekday}` },
    { said: `on ${weekday}`, day: weekday },
    { said: `this ${weekday}`, day: `this ${weekday}` },
  ]),
  ...['in two days', 'in three days', 'in five days', 'in a week'].map((day) => ({
    said: day,
    day,
  })),
  ...MONTHS.flatMap((month, at) => [
    { said: `on ${at + 3} ${month}`, day: `${at + 3} ${month}` },
    { said: `on ${month} ${at + 14}`, day: `${month} ${at + 14}` },
  ]),
];

export const PARTS = ['morning', 'afternoon', 'evening'] as const;

const HOURS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** Times of day: as said, and as the reminder gets them. */
export const TIMES: readonly { readonly said: string; readonly time: string }[] = [
  ...Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0')).flatMap((hour) =>
    ['00', '15', '30', '45'].map((minute) => ({
      said: `at ${hour}:${minute}`,
      time: `${hour}:${minute}`,
    })),
  ),
  ...Array.from({ length: 11 }, (_, at) => at + 1).flatMap((hour) =>
    ['am', 'pm'].flatMap((half) => [
      { said: `at ${hour}${half}`, time: `${hour}${half}` },
      { said: `at ${hour} ${half}`, time: `${hour} ${half}` },
    ]),
  ),
  ...HOURS.flatMap((word, at) => {
    const time = { said: `at ${word}`, time: `${String(at + 1).padStart(2, '0')}:00` };
    return [time, time];
  }),
  { said: 'at noon', time: 'noon' },
  { said: 'at noon', time: 'noon' },
];

export const PEOPLE =
  'Anna Ben Clara David Emma Frank Grace Henry Ines Jack Kiran Lena Maria Noah Olga Peter Ravi Sara Tom Uma Vera Will Priya Asha Meera'.split(
    ' ',
  );

/** Things to do; `*` stands for a person, `#` for a thing. */
export const TASKS: readonly string[] = [
  'call *', 'call the bank', 'call the dentist', 'call the doctor', 'call mum', 'call home', 'call the hotel',
  'call my sister', 'ring *', 'write to *', 'text *', 'email *', 'email the report', 'answer the email from *',
  'meet * for lunch', 'visit *', 'pick up *', 'pick up the children', 'pick up the parcel', 'pick up the #',
  'buy #', 'buy # and #', 'buy a #', 'buy a present for *', 'order #', 'bring the #', 'take the #', 'take my #',
  'pack the #', 'pack a #', 'pack my bag', 'clean the #', 'wash the #', 'fix the #', 'charge the #',
  'return the # to *', 'give * the #', 'ask * about the #', 'show * the #', 'send * the #', 'look for the #',
  'pay the rent', 'pay the electricity bill', 'pay *', 'water the plants', 'feed the cat', 'walk the dog',
  'take out the rubbish', 'take my medicine', 'drink water', 'stretch', 'go for a run', 'go to the gym', 'leave',
  'leave for the airport', 'check in for the flight', 'print the tickets', 'book a taxi', 'book a table for two',
  'renew my passport', 'back up my phone', 'lock the door', 'close the windows', 'turn off the oven',
  'study for the exam', 'do the homework', 'read the contract', 'sign the form', 'prepare the meeting',
  'water the # and feed the #', 'join the meeting with *', 'sleep early', 'wake up', 'iron the shirts', 'pray',
]; // prettier-ignore

export const THINGS =
  'milk bread eggs butter rice apples tea coffee sugar soap batteries flowers books paper pens shoes keys umbrella raincoat laptop camera charger ticket passport jacket suitcase bicycle car kitchen lamp fridge garden letter parcel cake medicine headphones guitar glasses notebook tent map hat scarf towel sunscreen'.split(
    ' ',
  );

/** Words for noise: requests that mean nothing, errors of any server. */
export const NOISE =
  'please write code for the table and explain how to fix my list of numbers what is best way make function that returns value why does this happen give three ideas about music history art plan week buy book summary text translate sentence into language compare two options who won game solve equation draw picture recipe soup garden grow faster engine noise email boss reply short long poem moon stars describe colour blue define word meaning calculate sum percent budget house dog cat bird fish tree river server key account limit data file name type request answer host service field model page user address number'.split(
    ' ',
  );

const SYLLABLES =
  'ka lo mi ra ten dor vil bur ne sa to gri pal mon ster el ham un fi ze ru ba chi ko'.split(' ');

/** A word that nobody knows: what is copied is not always known. */
export const madeUp = (chance: Chance): string =>
  Array.from({ length: chance.whole(2, 3) }, () => chance.pick(SYLLABLES)).join('');

export const RAIN = ['light rain', 'heavy rain', 'showers'];
export const CLEAR = ['clear sky', 'sunny', 'cloudy'];
