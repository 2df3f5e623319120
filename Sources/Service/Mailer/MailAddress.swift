/// A mailbox: an address, and the name that a reader sees beside it.
package struct MailAddress: Hashable, Sendable {
    /// The longest address and the longest name, in bytes.
    package static let maximumLength = 254

    /// An address in ASCII, such as `no-reply@example.com`.
    package let address: String
    /// Nil for a mailbox without a name.
    package let name: String?

    /// The part of the address after the `@`.
    package var domain: String { String(address.drop { $0 != "@" }.dropFirst()) }

    /// - Parameter text: An address, or a name and an address in angle brackets: `Garden <no-reply@example.com>`.
    /// - Returns: Nil for a text of another form, or with a control character.
    package init?(_ text: String) {
        guard text.utf8.count <= 2 * Self.maximumLength + 3,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        guard text.utf8.last == UInt8(ascii: ">"), let bracket = text.lastIndex(of: "<") else {
            self.init(name: nil, address: text)
            return
        }
        // Two mailboxes in a row are no name and an address.
        guard !text[..<bracket].utf8.contains(where: { "<>".utf8.contains($0) }) else { return nil }
        let name = text[..<bracket].drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
        self.init(name: name.isEmpty ? nil : String(name), address: String(text[bracket...].dropFirst().dropLast()))
    }

    private init?(name: String?, address: String) {
        let parts = address.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), address.utf8.count <= Self.maximumLength,
            address.utf8.allSatisfy(Self.isAllowed), parts[1].allSatisfy(Self.isOfDomain),
            (name?.utf8.count ?? 0) <= Self.maximumLength
        else { return nil }
        self.name = name
        self.address = address
    }

    private static func isOfDomain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Visible ASCII, without the characters that end an address in a header field or a command.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"<>()[]\\,;:\"".utf8.contains(byte)
    }
}
