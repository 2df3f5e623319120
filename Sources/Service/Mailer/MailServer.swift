import CCurl
import Dispatch
import Foundation
import HTTPSupport

/// The transfer of one message to a mail server, by libcurl. It blocks a thread, because libcurl blocks where it ends a session
/// (`smtp_disconnect`). The requests of `OutgoingClient` must not wait for that.
struct SMTPTransfer {
    /// The longest wait for a connection.
    private static let connectTime = Duration.seconds(10)
    /// The longest transfer, in milliseconds.
    private static let totalTime = 20_000

    let server: MailServer
    let message: MailMessage

    func run() throws(MailFailure) {
        let (code, reply) = try perform()
        if let failure = MailFailure(code, reply: reply) { throw failure }
    }

    private func perform() throws(MailFailure) -> (code: CURLcode, reply: Int) {
        do throws(CurlHandle.Refusal) {
            let handle = try CurlHandle(connectingWithin: Self.connectTime)
            try set(handle)
            return (handle.perform(), handle.responseCode)
        } catch {
            throw .other
        }
    }

    private func set(_ handle: CurlHandle) throws(CurlHandle.Refusal) {
        // The path is the name that the client greets with: the sender's domain, not that of the machine.
        try handle.set(CURLOPT_URL, "\(server.url)/\(message.sender.domain)")
        try handle.set(CURLOPT_MAIL_FROM, "<\(message.sender.address)>")
        try handle.set(CURLOPT_MAIL_RCPT, ["<\(message.recipient.address)>"])
        let level = server.encryption == .none ? CURLUSESSL_NONE : CURLUSESSL_ALL
        try handle.set(CURLOPT_USE_SSL, Int(level.rawValue))
        try handle.set(CURLOPT_TIMEOUT_MS, Self.totalTime)
        if let credentials = server.credentials {
            try handle.set(CURLOPT_USERNAME, credentials.username)
            try handle.set(CURLOPT_PASSWORD, credentials.password)
        }
        if let certificates = server.certificates { try handle.set(CURLOPT_CAINFO, certificates) }
        try handle.upload(message.encoded(), statesSize: false)
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
        case _ where code.isOfTLS: self = .tlsFailed
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
