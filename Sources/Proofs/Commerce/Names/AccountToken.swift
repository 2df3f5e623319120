import Foundation

extension UUID {
    /// Reads an account token. Nil for another text, and for a placeholder, which names nobody.
    init?(accountToken text: String?) {
        guard let token = text.flatMap({ UUID(uuidString: $0) }), !token.isPlaceholder else { return nil }
        self = token
    }

    /// True for the nil and the max UUID (RFC 9562 sections 5.9 and 5.10), which programs send for a missing one.
    public var isPlaceholder: Bool {
        withUnsafeBytes(of: uuid) { bytes in
            bytes.allSatisfy { $0 == 0 } || bytes.allSatisfy { $0 == 0xFF }
        }
    }
}
