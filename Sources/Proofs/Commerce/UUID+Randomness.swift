import Foundation

extension UUID {
    /// A random UUID (RFC 9562 section 5.4).
    public init(randomness: Randomness) {
        var bytes = randomness.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    /// The UUID in lowercase, as Apple writes it.
    public var lowercasedString: String { uuidString.lowercased() }
}
