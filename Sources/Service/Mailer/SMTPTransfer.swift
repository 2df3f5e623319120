import CCurl

/// The transfer of one message to a mail server, by libcurl. It blocks its thread.
struct SMTPTransfer {
    /// The longest wait for a connection, in milliseconds.
    private static let connectTime = 10_000
    /// The longest transfer, in milliseconds.
    private static let totalTime = 20_000

    /// The state of libcurl that all threads share.
    private static let isStarted = till_curl_start() == CURLE_OK

    let server: MailServer
    let message: MailMessage

    /// - Throws: `MailFailure`.
    func run() throws(MailFailure) {
        guard Self.isStarted, let handle = curl_easy_init() else { throw MailFailure(.other) }
        defer { curl_easy_cleanup(handle) }
        guard let recipients = curl_slist_append(nil, "<\(message.recipient.address)>") else {
            throw MailFailure(.other)
        }
        defer { curl_slist_free_all(recipients) }
        guard settings(handle).allSatisfy({ $0 == CURLE_OK }),
            till_curl_set_list(handle, CURLOPT_MAIL_RCPT, recipients) == CURLE_OK
        else { throw MailFailure(.other) }
        let code = Self.send(message.encoded(), over: handle)
        if let failure = MailFailure(code, reply: till_curl_response_code(handle)) { throw failure }
    }

    private func settings(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        func set(_ option: CURLoption, _ text: String) -> CURLcode { till_curl_set_text(handle, option, text) }
        func set(_ option: CURLoption, _ number: Int) -> CURLcode { till_curl_set_number(handle, option, number) }
        let level = server.encryption == .none ? CURLUSESSL_NONE : CURLUSESSL_ALL
        var results = [
            // The path is the name that the client greets with: the sender's domain, not that of the machine.
            set(CURLOPT_URL, "\(server.url)/\(message.sender.domain)"),
            set(CURLOPT_MAIL_FROM, "<\(message.sender.address)>"),
            set(CURLOPT_USE_SSL, Int(level.rawValue)),
            set(CURLOPT_SSL_VERIFYPEER, 1),
            set(CURLOPT_SSL_VERIFYHOST, 2),
            set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            set(CURLOPT_CONNECTTIMEOUT_MS, Self.connectTime),
            set(CURLOPT_TIMEOUT_MS, Self.totalTime),
            // Timeouts without signals, which would reach any thread.
            set(CURLOPT_NOSIGNAL, 1),
            // Not the proxy of the environment.
            set(CURLOPT_PROXY, ""),
        ]
        if let credentials = server.credentials {
            results += [set(CURLOPT_USERNAME, credentials.username), set(CURLOPT_PASSWORD, credentials.password)]
        }
        if let certificates = server.certificates { results.append(set(CURLOPT_CAINFO, certificates)) }
        return results
    }

    private static func send(_ bytes: [UInt8], over handle: UnsafeMutableRawPointer) -> CURLcode {
        bytes.withUnsafeBufferPointer { buffer in
            var source = TillCurlSource(bytes: buffer.baseAddress, count: buffer.count, position: 0)
            return withUnsafeMutablePointer(to: &source) { source in
                let code = till_curl_set_source(handle, source)
                return code == CURLE_OK ? curl_easy_perform(handle) : code
            }
        }
    }
}
