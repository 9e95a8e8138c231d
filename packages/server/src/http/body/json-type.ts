/** True if a `Content-Type` is JSON in UTF-8: JSON has no other encoding, and decoding it as another would change texts. */
export function isUtf8Json(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=', 2);
    return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim());
  });
}
