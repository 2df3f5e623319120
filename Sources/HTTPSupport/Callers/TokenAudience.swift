/// An accepted audience of tokens (`aud`, RFC 7519 section 4.1.3).
public struct TokenAudience: Sendable, Hashable {
    public let name: String
    /// The bundle identifier of the app for which tokens of this audience are valid. Nil for all apps.
    public let app: String?

    public init(_ name: String, app: String? = nil) {
        self.name = name
        self.app = app
    }
}
