export const contractFiles = [
  {
    id: 'contract-7-canonical-path',
    section: '7',
    quote:
      'Canonical path: `/app/mnt/` + one or more segments; byte for byte as given, any Unicode form; no segment empty, blank, `.` or `..` (also after NFKC), none with `/`, `\\`, control characters, U+2028/2029, lone surrogates or only U+FEFF; bidirectional overrides refused in folders; no trailing slash; segment ≤ 255 bytes, whole ≤ 900.',
  },
  {
    id: 'contract-7-not-canonical',
    section: '7',
    quote: 'Not canonical: 400; never repaired silently.',
  },
  {
    id: 'contract-7-file-and-folder',
    section: '7',
    quote: 'A file and a folder of one name: refused, on S3 too.',
  },
  {
    id: 'contract-7-upload-fields-required',
    section: '7',
    quote:
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the contract's own words
      '`create_agency_upload`: all five fields required; `folder` absolute, at least one segment below `/app/mnt/`; `contentType` is `type/subtype` with optional parameters; a name or folder with `${filename}` is 400.',
  },
  { id: 'contract-7-resource', section: '7', quote: '`resource` = `folder/filename`.' },
  {
    id: 'contract-7-upload-url',
    section: '7',
    quote:
      '`uploadUrl` lies under `RUNWIRE_PUBLIC_URL`, or where unset under the scheme and host of the signing request.',
  },
  {
    id: 'contract-7-upload-fields',
    section: '7',
    quote: '`uploadFields` holds strings only, in the order to send.',
  },
  {
    id: 'contract-7-post-policy',
    section: '7',
    quote:
      "Signing is the S3 POST policy (signature V4) in both modes; embedded, the server itself is the receiving endpoint and enforces the policy as S3 does: exact key, exact `Content-Type`, `content-length-range` exactly `sizeBytes`, 15 minutes, `file` last and everything after it ignored, S3's XML errors and statuses (204 on success, or `success_action_status`).",
  },
  {
    id: 'contract-7-upload-cors',
    section: '7',
    quote: 'It answers CORS for any origin, without credentials.',
  },
  {
    id: 'contract-7-upload-atomic',
    section: '7',
    quote:
      'Bytes go to a temporary file, are synced, then renamed: a file is there whole or not at all; a newer upload of the same path replaces it.',
  },
  {
    id: 'contract-7-s3-uploads',
    section: '7',
    quote:
      'With S3, the form goes to S3 itself (`direct`), or, for stores that have no POST object (Cloudflare R2, Backblaze B2), to this server, which writes it through (`S3_UPLOADS=through`).',
  },
  {
    id: 'contract-7-s3-same-answer',
    section: '7',
    quote: 'Either way the caller sees the same answer.',
  },
  {
    id: 'contract-7-drops',
    section: '7',
    quote:
      'Every operation that reads or changes files of the integration first settles its drops (one LIST): it copies each to a new blob (`copy-source-if-match`), commits the row and deletes the drop. Per path the later time wins, then the later signed form. If the path has become a folder, the drop is deleted and logged.',
  },
  {
    id: 'contract-7-file-quota',
    section: '7',
    quote:
      'Quota: used = sizes of the rows, plus, for each path with open forms (20 minutes, used or not), the amount by which the largest form exceeds the row.',
  },
  {
    id: 'contract-7-member-quota',
    section: '7',
    quote:
      "Quotas: a default per integration (10 GiB, `RUNWIRE_MOUNT_QUOTA_BYTES`) and per member's folder (1 GiB, `RUNWIRE_MEMBER_QUOTA_BYTES`); integration fields `quotaBytes`, `memberQuotaBytes` (null: the setting, 0: none); uploads with a client token count.",
  },
  {
    id: 'contract-7-etag',
    section: '7',
    quote: '`etag` is the quoted MD5 of the bytes, in every mode.',
  },
  {
    id: 'contract-7-file-access',
    section: '7',
    quote:
      'The integration field `fileAccess` decides what a run may reach through file tools and the sandbox. Everything else behaves as if it did not exist.',
  },
  {
    id: 'contract-7-announced',
    section: '7',
    quote:
      '*Announced*: every path in `sandboxFiles` of an admitted run of the chat, failed and cancelled runs included; it means whatever file is at that path when a tool runs. Replays and refused requests announce nothing. Deleting the chat ends both; a new chat with the same id starts with nothing.',
  },
  {
    id: 'contract-7-made',
    section: '7',
    quote:
      "*Made*: a file that a committed step of the chat's runs created, until it is deleted; a new version stays visible.",
  },
  {
    id: 'contract-7-run-writes',
    section: '7',
    quote:
      'A run may write where it may read, and may create new files: with `"member"` below the member\'s folder, otherwise anywhere. A write to a path that is taken by a file that the run may not see, or is above or below one, fails as a call and says only that the path is taken.',
  },
  {
    id: 'contract-7-run-quota',
    section: '7',
    quote:
      'Signing and every publication by a run check this in their transaction; both treat open forms as existing files for folder conflicts.',
  },
  {
    id: 'contract-7-file-lists',
    section: '7',
    quote:
      'Lists and searches show visible files, and folders with a visible file below them; anything else answers exactly as a path that does not exist. A change of `fileAccess` counts from the next run on.',
  },
  {
    id: 'contract-7-announce-member',
    section: '7',
    quote:
      'with `"chat"` and `"all"` it may announce any file of the integration; with `"member"` only files below the member\'s folder (otherwise 400 `sandbox_file_not_found`).',
  },
  {
    id: 'contract-7-member-folder',
    section: '7',
    quote:
      'The member\'s folder comes from the integration field `memberFolder`, a template with exactly one `{consumerId}` as a whole path segment; default `"/app/mnt/members/{consumerId}"`. The member record shows it as `folder`, ready to sign uploads for. Two ids never share a folder.',
  },
  {
    id: 'contract-7-sandbox-file-missing',
    section: '7',
    quote: 'A sandbox file that was not uploaded: 400 `sandbox_file_not_found`, naming the path.',
  },
  {
    id: 'contract-7-sandbox-image',
    section: '7',
    quote: 'A sandbox image is not put into the prompt by itself.',
  },
  {
    id: 'contract-7-read-documents',
    section: '7',
    quote:
      'The tool `read_file` also reads documents (PDF, DOCX, XLSX, HTML, CSV) as text, with the same converter and limits as attachments.',
  },
  {
    id: 'contract-7-url-text',
    section: '7',
    quote:
      "Attachments by URL: what the URL's text shows (not https, credentials, a port other than 443 unless allowed, a literal non-public address, `data:` in `file_url`,",
  },
  {
    id: 'contract-7-data-url',
    section: '7',
    quote: 'a data URL that is no PNG, JPEG, GIF or WebP by its bytes,',
  },
  {
    id: 'contract-7-url-filename',
    section: '7',
    quote: '`filename` that is not one segment by the path rule) is 400;',
  },
  {
    id: 'contract-7-url-unavailable',
    section: '7',
    quote:
      'what shows only on resolving or fetching fails the run with `attachment_unavailable`, naming the URL without its query.',
  },
  {
    id: 'contract-7-fetcher',
    section: '7',
    quote:
      'The fetcher refuses private, loopback, link-local and metadata addresses in every notation and after every redirect; `RUNWIRE_FETCH_ALLOW` (`host`, `host:port`, CIDR or CIDR:port; without a port 443 alone; empty by default, printed at start) exempts addresses for those whose files live in a private network.',
  },
  {
    id: 'contract-7-fetched-once',
    section: '7',
    quote:
      'Fetched once, kept by content hash within the integration as long as the chat (unless `keepAttachments: false`), and sent from that copy in later turns.',
  },
  {
    id: 'contract-7-refreshes',
    section: '7',
    quote:
      '`attachmentUrlRefreshes`: a key must be an earlier attachment URL of this chat (failed turns included), without query or fragment; a value https with the same host and path; used where no copy is kept.',
  },
  {
    id: 'contract-7-refresh-missing',
    section: '7',
    quote:
      'An earlier file without copy whose signed link has visibly expired and that is not listed: 400 `invalid_attachment_refresh`, naming it.',
  },
  {
    id: 'contract-7-failed-turn',
    section: '7',
    quote: 'Failed turn: none of its attachments is sent again.',
  },
  {
    id: 'contract-7-cancelled-turn',
    section: '7',
    quote: 'Cancelled turn: the fetched ones are.',
  },
  {
    id: 'contract-7-turns-sandbox-files',
    section: '7',
    quote: 'Sandbox files of both stay announced.',
  },
  { id: 'contract-7-user-context-tools', section: '7', quote: '`user_context` reaches tools always,' },
  {
    id: 'contract-7-user-context-model',
    section: '7',
    quote: 'the model only where the agency says so (`{{user_context.x}}` in instructions, or `contextToModel: true`).',
  },
] as const;
