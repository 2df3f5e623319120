/// An id that an app gives its customer, such as a name of the app's own or an anonymous id.
///
/// Anybody with the app can present any id. So the ids are users of an issuer of their own, and never the users of a back end
/// or of tokens. A user's name is the id with the characters that names exclude in percent-encoding (RFC 3986 section 2.1), so
/// that each id has one name, and each name one id. Ids are compared by their bytes: the composed and the decomposed form of a
/// letter are two ids.
public struct CustomerIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in bytes of UTF-8.
    public static let maximumLength = 256
    private static let anonymousPrefix = "$RCAnonymousID:"
    private static let anonymousDigits = 32

    /// The id as the app states it.
    public let text: String
    public let user: User

    /// - Returns: Nil if the text is empty or longer than `maximumLength`.
    public init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
        // The usual id is its own name.
        if text.utf8.allSatisfy(Self.isKept), text != ".", text != "..", let user = Self.user(text) {
            self.text = text
            self.user = user
            return
        }
        let sparse = Self.encoded(text) { scalar in
            if scalar.isASCII { return Self.isKept(UInt8(ascii: scalar)) }
            let text = String(scalar)
            return User(name: text).map { ByteKey($0.name) == ByteKey(text) } ?? false
        }
        // A name is in NFC. An id in another form has only ASCII in its name.
        let full = { Self.encoded(text) { $0.isASCII && Self.isKept(UInt8(ascii: $0)) } }
        guard let user = Self.user(sparse) ?? Self.user(full()) else { return nil }
        self.text = text
        self.user = user
    }

    /// - Returns: Nil for a user who is not a customer of an app, or whose name is not the encoding of an id.
    public init?(_ user: User) {
        guard ByteKey(user.issuer) == ByteKey(User.customerIssuer), let text = Self.decoded(user.name),
            let identifier = Self(text), identifier.user == user
        else { return nil }
        self = identifier
    }

    /// True if the app made the id for a customer who has not logged in. Such an id is random: only the device knows it.
    public var isAnonymous: Bool {
        guard text.hasPrefix(Self.anonymousPrefix) else { return false }
        let digits = text.utf8.dropFirst(Self.anonymousPrefix.utf8.count)
        return digits.count == Self.anonymousDigits
            && digits.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    public var description: String { text }

    public static func == (left: Self, right: Self) -> Bool { left.user == right.user }

    public func hash(into hasher: inout Hasher) { hasher.combine(user) }

    private static func isKept(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%")
    }

    /// The user of a name that is already in its final spelling.
    private static func user(_ name: String) -> User? {
        guard let user = User(issuer: User.customerIssuer, name: name), ByteKey(user.name) == ByteKey(name) else {
            return nil
        }
        return user
    }

    private static func encoded(_ text: String, keeping isKept: (Unicode.Scalar) -> Bool) -> String {
        // Proxies remove "." and "..".
        let isPathSegment = text == "." || text == ".."
        var name = ""
        for scalar in text.unicodeScalars {
            if isKept(scalar), !isPathSegment {
                name.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 {
                    let digits = String(byte, radix: 16, uppercase: true)
                    name += byte < 0x10 ? "%0\(digits)" : "%\(digits)"
                }
            }
        }
        return name
    }

    private static func decoded(_ name: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                return nil
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension User {
    /// True for a customer of an app who has not logged in.
    public var isAnonymousCustomer: Bool { isProofCustomer || CustomerIdentifier(self)?.isAnonymous ?? false }
}

/// A string that is compared, ordered and hashed by its UTF-8 bytes.
///
/// `String` compares by canonical equivalence. That takes quadratic time on long runs of combining marks, which a
/// client can send. Untrusted strings are compared through this type.
public struct ByteKey: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    public let text: String

    @inlinable
    public init(_ text: String) {
        self.text = text
    }

    @inlinable
    public init(stringLiteral text: String) {
        self.text = text
    }

    @inlinable
    public static func == (left: ByteKey, right: ByteKey) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        return left.withBytes(and: right) { $0.elementsEqual($1) } ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    @inlinable
    public static func < (left: ByteKey, right: ByteKey) -> Bool {
        left.withBytes(and: right) { $0.lexicographicallyPrecedes($1) }
            ?? left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// - Returns: Nil if the bytes of a string are not contiguous, as those of Objective-C strings may be.
    @inlinable
    func withBytes(
        and other: ByteKey,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool? {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            other.text.utf8.withContiguousStorageIfAvailable { body(bytes, $0) }
        } ?? nil
    }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        let isContiguous: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isContiguous == nil { for byte in text.utf8 { hasher.combine(byte) } }
        // The terminator separates consecutive strings.
        hasher.combine(0xFF as UInt8)
    }
}
