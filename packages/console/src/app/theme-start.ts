// A script of its own that runs before the first paint: a module would run after it, and the page would flash.
try {
  const theme = localStorage.getItem('runwire theme');
  if (theme !== null) document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the page has the colours of the system.
}
