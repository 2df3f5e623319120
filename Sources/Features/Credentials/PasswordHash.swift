import Proofs

/// A password hash: scrypt (RFC 7914) with its salt and its cost.
///
/// Its text is a PHC string: `$scrypt$ln=15,r=8,p=3$SALT$HASH`. Salt and hash are in base64 without padding.
public struct PasswordHash: Hashable, Sendable, CustomStringConvertible {
    public struct Cost: Hashable, Sendable {
        /// The binary logarithm of N. A guess takes 128 · N · r bytes of memory.
        let logarithmOfN: UInt8
        let r: UInt32
        let p: UInt32

        /// A cost of 32 MiB of memory. OWASP's Password Storage Cheat Sheet lists it among its equivalent settings.
        public static let standard = Cost(logarithmOfN: 15, r: 8, p: 3)
        /// A minimal cost for tests.
        package static let minimal = Cost(logarithmOfN: 4, r: 1, p: 1)
    }

    private static let length = 32

    private let cost: Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a password, in the time that the cost requires.
    ///
    /// - Parameter salt: 16 random bytes.
    /// - Throws: `OpenSSLError` if there is not enough memory.
    public init(_ password: String, salt: [UInt8], cost: Cost) throws(OpenSSLError) {
        self.cost = cost
        self.salt = salt
        hash = try Self.hash(password, salt, cost)
    }

    /// Creates a hash that no known password matches. Comparing a password with it hides that an account has none,
    /// because it takes equally long.
    public init(decoyFrom randomBytes: [UInt8], cost: Cost) {
        self.cost = cost
        salt = Array(randomBytes.prefix(16))
        hash = randomBytes
    }

    /// - Returns: Nil if the text has another form.
    public init?(_ text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt",
            let match = parts[2].wholeMatch(of: /ln=([0-9]{1,2}),r=([0-9]{1,3}),p=([0-9]{1,3})/),
            let logarithm = UInt8(match.1), (1...24).contains(logarithm), let r = UInt32(match.2),
            let p = UInt32(match.3), let salt = Self.bytes(parts[3]), let hash = Self.bytes(parts[4]),
            hash.count == Self.length
        else { return nil }
        cost = Cost(logarithmOfN: logarithm, r: r, p: p)
        self.salt = salt
        self.hash = hash
    }

    public var description: String {
        "$scrypt$ln=\(cost.logarithmOfN),r=\(cost.r),p=\(cost.p)$"
            + "\(Self.text(salt))$\(Self.text(hash))"
    }

    private static func text(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes).filter { $0 != "=" }
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let padding = repeatElement("=", count: (4 - text.utf8.count % 4) % 4).joined()
        return Base64.decode(Array((text + padding).utf8))
    }

    /// True if the hash matches the password. The comparison takes as long as the hash.
    ///
    /// - Throws: `OpenSSLError` if there is not enough memory.
    public func matches(_ password: String) throws(OpenSSLError) -> Bool {
        ConstantTime.areEqual(try Self.hash(password, salt, cost), hash)
    }

    private static func hash(_ password: String, _ salt: [UInt8], _ cost: Cost) throws(OpenSSLError) -> [UInt8] {
        try Scrypt.key(
            from: password, salt: salt, logarithmOfN: cost.logarithmOfN, r: cost.r, p: cost.p, length: length)
    }
}
