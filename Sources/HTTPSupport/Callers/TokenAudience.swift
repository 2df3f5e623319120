/// An accepted audience of tokens (`aud`, RFC 7519 section 4.1.3).
package struct TokenAudience: Sendable, Hashable {
    package let name: String
    /// The bundle identifier of the app for which tokens of this audience are valid. Nil for all apps.
    package let app: String?

    package init(_ name: String, app: String? = nil) {
        self.name = name
        self.app = app
    }
}
