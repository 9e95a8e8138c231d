let page = 'Runwire';
let openQuestions = '';

const show = () => {
  document.title = openQuestions === '' ? page : `(${openQuestions}) ${page}`;
};

/** Names the window after the page. */
export function nameWindow(title: string): void {
  page = title;
  show();
}

/** Shows in the window's title how many questions wait for an answer; an empty text removes the number. */
export function showOpenQuestions(count: string): void {
  openQuestions = count;
  show();
}
