import CCurl
import Dispatch
import Foundation

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
        guard Self.isStarted, let handle = curl_easy_init() else { throw MailFailure.other }
        defer { curl_easy_cleanup(handle) }
        guard let recipients = curl_slist_append(nil, "<\(message.recipient.address)>") else {
            throw MailFailure.other
        }
        defer { curl_slist_free_all(recipients) }
        guard settings(handle).allSatisfy({ $0 == CURLE_OK }),
            till_curl_set_list(handle, CURLOPT_MAIL_RCPT, recipients) == CURLE_OK
        else { throw MailFailure.other }
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
            // Of TLS 1.2, the suites with ephemeral keys and authenticated encryption, in OpenSSL's words.
            set(CURLOPT_SSL_CIPHER_LIST, "ECDHE+AESGCM:ECDHE+CHACHA20"),
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

/// A mail server with its address, encryption and credentials.
package struct MailServer: Hashable, Sendable {
    /// The encryption of the connection. The client verifies the server's certificate.
    package enum Encryption: Hashable, Sendable {
        /// TLS from the first byte.
        case implicit
        /// TLS before anything of the message is sent (STARTTLS). A server without it gets no message.
        case startTLS
        /// None: for a server on this machine.
        case none
    }

    struct Credentials: Hashable, Sendable {
        let username: String
        let password: String
    }

    /// Messages are sent on threads of their own, because libcurl blocks.
    private static let threads = DispatchQueue(label: "till.mail", attributes: .concurrent)

    /// The longest address, in bytes.
    static let maximumLength = 512

    /// A name, or an address without brackets.
    package let host: String
    package let port: Int
    package let encryption: Encryption
    let credentials: Credentials?
    /// The path of the certificates, in PEM, that end a trusted chain; nil for those of the system.
    let certificates: String?

    /// - Parameters:
    ///   - text: `smtp://host:port` or `smtps://host:port`.
    ///   - credentials: Nil for a server without authentication.
    ///   - certificates: The path of a file; nil for the certificates that the system trusts.
    /// - Returns: Nil for a text of another form.
    package init?(
        _ text: String,
        credentials: (username: String, password: String)? = nil,
        certificates: String? = nil
    ) {
        guard text.utf8.count <= Self.maximumLength, text.isVisibleASCII,
            let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            ["smtp", "smtps"].contains(scheme), let host = url.host.map(Self.withoutBrackets), !host.isEmpty,
            url.user == nil, url.password == nil, ["", "/"].contains(url.path), url.query == nil, url.fragment == nil
        else { return nil }
        let port = url.port ?? (scheme == "smtps" ? 465 : 587)
        guard (1...65_535).contains(port) else { return nil }
        self.host = host
        self.port = port
        encryption =
            if scheme == "smtps" {
                .implicit
            } else if Self.isLoopback(host), certificates == nil {
                .none
            } else {
                .startTLS
            }
        self.credentials = credentials.map { Credentials(username: $0.username, password: $0.password) }
        self.certificates = certificates
    }

    /// Sends a message, and returns when the server has accepted it.
    ///
    /// - Throws: `MailFailure`.
    package func send(_ message: MailMessage) async throws(MailFailure) {
        let transfer = SMTPTransfer(server: self, message: message)
        let result = await withCheckedContinuation { continuation in
            Self.threads.async {
                continuation.resume(returning: Result { () throws(MailFailure) in try transfer.run() })
            }
        }
        try result.get()
    }

    /// The address without credentials.
    package var url: String {
        "\(encryption == .implicit ? "smtps" : "smtp")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    private static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        return ["localhost", "::1"].contains(host) || host.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
    }
}

/// The cause for which a mail server has not accepted a message.
package enum MailFailure: String, Error {
    case hostUnknown
    case unreachable
    case timedOut
    case tlsFailed
    case authenticationFailed
    /// The server cannot accept the message now.
    case deferred
    /// The server never accepts the message, for example because the mailbox does not exist.
    case refused
    case other

    /// True if another attempt would fail, too.
    package var isPermanent: Bool { self == .refused }
}

extension MailFailure {
    /// Codes of replies about the client instead of the message: it has to authenticate, or to encrypt. The operator can change
    /// that (RFC 4954 section 6, RFC 3207 section 4).
    private static let authenticationReplies: ClosedRange<Int> = 530...538

    /// - Parameters:
    ///   - code: The result of the transfer.
    ///   - reply: The code of the server's last reply; 0 for none.
    /// - Returns: Nil for a message that the server accepted.
    init?(_ code: CURLcode, reply: Int) {
        switch code {
        case CURLE_OK: return nil
        case CURLE_COULDNT_RESOLVE_HOST: self = .hostUnknown
        case CURLE_COULDNT_CONNECT: self = .unreachable
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_LOGIN_DENIED: self = .authenticationFailed
        case CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            self = .tlsFailed
        default: self = .init(reply: reply)
        }
    }

    private init(reply: Int) {
        self =
            switch reply {
            case 400...499: .deferred
            case Self.authenticationReplies: .authenticationFailed
            case 500...599: .refused
            default: .other
            }
    }
}
