import Foundation

package struct WebhookURL: Hashable, Sendable {
    /// The largest number of bytes.
    package static let maximumLength = 2048

    package let text: String
    /// The host name, or the IP address without brackets.
    package let host: String
    package let port: Int

    /// - Parameter allowsPlain: True if the URL may have the scheme `http`, for example on a developer's machine.
    /// - Throws: `WebhookError`, `urlInvalid`.
    package init(_ text: String, allowsPlain: Bool) throws(WebhookError) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.isVisibleASCII,
            let url = URL(string: text, encodingInvalidCharacters: false)
        else { throw .urlInvalid(reason: "be a URL of at most \(Self.maximumLength) ASCII characters") }
        let scheme = url.scheme?.lowercased()
        guard scheme == "https" || allowsPlain && scheme == "http" else {
            throw .urlInvalid(
                reason: allowsPlain
                    ? "have the scheme https or http"
                    : "have the scheme https; set `webhook-private-addresses` to allow http")
        }
        guard url.user == nil, url.password == nil, url.fragment == nil else {
            throw .urlInvalid(reason: "have no user, no password and no fragment")
        }
        let host = url.host(percentEncoded: true) ?? ""
        guard let match = host.wholeMatch(of: /[A-Za-z0-9._-]{1,253}|\[?([0-9A-Fa-f:.]{2,45})\]?/),
            (1...65535).contains(url.port ?? 443)
        else { throw .urlInvalid(reason: "have a host and, if it has a port, one from 1 to 65535") }
        self.text = text
        self.host = String(match.1 ?? match.0)
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}

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

/// The ranges of public and special-purpose IP addresses (IANA's registries of special-purpose addresses, RFC 6890).
///
/// The check prevents server-side request forgery: a webhook must not reach addresses that only the service can reach.
package enum AddressRange {
    /// Returns true if an address belongs to the public network.
    ///
    /// - Parameter address: 4 or 16 bytes. Other sizes are not public.
    package static func isPublic(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !privateRanges.contains { contains(address, $0) }
        // All global unicast addresses begin with these three bits.
        case 16 where address[0] & 0xE0 == 0x20: !privateRangesOfVersion6.contains { contains(address, $0) }
        default: false
        }
    }

    /// The first bytes of the addresses of a range, and the number of their bits that count.
    private typealias Range = (prefix: [UInt8], bits: Int)

    private static func contains(_ address: [UInt8], _ range: Range) -> Bool {
        for (index, byte) in range.prefix.enumerated() {
            let left = min(8, range.bits - index * 8)
            guard left > 0 else { break }
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> left)
            if address[index] & mask != byte & mask { return false }
        }
        return true
    }

    private static let privateRanges: [Range] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16),
        ([172, 16], 12), ([192, 0, 0], 24), ([192, 0, 2], 24), ([192, 88, 99], 24),
        ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24), ([203, 0, 113], 24),
        // Multicast and reserved addresses.
        ([224], 4), ([240], 4),
    ]

    /// The ranges for transition (6to4, Teredo), documentation and tests.
    private static let privateRangesOfVersion6: [Range] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x20, 0x02], 16),
        ([0x3F, 0xFF, 0x00], 20),
    ]
}
