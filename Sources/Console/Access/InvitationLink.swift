/// The one-time link of an invitation.
///
/// The secret is the fragment of the link, which browsers keep to themselves (RFC 3986 section 3.5). No log of a server or a
/// proxy has it.
package enum InvitationLink {
    static let page = ConsolePath("invitation")

    /// - Parameter address: The address at which browsers reach the service, without a path.
    package static func text(_ secret: String, at address: String) -> String {
        address + page.text + "#" + secret
    }
}
