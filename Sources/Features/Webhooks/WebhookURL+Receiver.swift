import Foundation

extension WebhookURL {
    /// The URL of a receiver, as a person or a back end gives it.
    ///
    /// - Parameter allowsPrivate: True if receivers may be in private networks, also without TLS.
    /// - Throws: `WebhookError`, `urlInvalid`, `addressPrivate`.
    package init(receiver text: String, allowsPrivate: Bool) throws(WebhookError) {
        try self.init(text, allowsPlain: allowsPrivate)
        guard allowsPrivate || !isPlainlyPrivate else { throw .addressPrivate }
    }

    /// True if the URL is private without resolving its name. The sender checks the resolved address.
    private var isPlainlyPrivate: Bool {
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        return address(of: host, AF_INET, 4) ?? address(of: host, AF_INET6, 16) ?? false
    }

    /// Returns true for an address that is not public, and nil for a text that is no address of the family.
    private func address(of host: String, _ family: Int32, _ count: Int) -> Bool? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard inet_pton(family, host, &bytes) == 1 else { return nil }
        return !AddressRange.isPublic(bytes)
    }
}
