import Features
import HTTPTypes
import Hummingbird
import Proofs

/// The cookies of the console.
struct ConsoleCookie: Sendable {
    private static let language = "till_language"

    /// True if the browser may send the cookies only over TLS.
    let isSecure: Bool

    /// The name of the session's cookie. No other host of the domain can set one with the prefix, which requires the path `/` (RFC
    /// 6265bis section 4.1.3.2).
    private var session: String { isSecure ? "__Host-till_console" : "till_console" }

    /// The secret that a browser presents. Nil for none, or for one that the console never made.
    func secret(of request: Request) -> String? {
        guard let text = request.cookies[session]?.value, text.utf8.count == 43,
            Base64.decode(Array(text.utf8)[...], .urlSafe)?.count == 32
        else { return nil }
        return text
    }

    static func language(of request: Request) -> ConsoleLanguage? {
        request.cookies[language].flatMap { ConsoleLanguage(rawValue: $0.value) }
    }

    /// A new secret for a browser without a session.
    static func newSecret(_ randomness: Randomness) -> String {
        Base64.encode(randomness.bytes(32), .urlSafe)
    }

    /// A cookie that ends with the session at the service, or with the browser.
    func set(_ secret: String, in response: inout Response) {
        add(session, secret, TeamService.sessionTime / 1000, path: isSecure ? "/" : ConsolePath.root, to: &response)
    }

    func set(_ language: ConsoleLanguage, in response: inout Response) {
        add(Self.language, language.rawValue, 365 * 86_400, path: ConsolePath.root, to: &response)
    }

    private func add(_ name: String, _ value: String, _ seconds: Int64, path: String, to response: inout Response) {
        let secure = isSecure ? "; Secure" : ""
        response.headers.append(
            HTTPField(
                name: .setCookie,
                value:
                    "\(name)=\(value); Path=\(path); Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
            ))
    }
}
