import COpenSSL

/// What is kept of a password: scrypt (RFC 7914) over it and a salt, with what it cost.
///
/// Written in the PHC string format: `$scrypt$ln=15,r=8,p=3$SALT$HASH`, both in base64 without padding.
public struct PasswordHash: Hashable, Sendable, CustomStringConvertible {
    /// What one guess costs.
    public struct Cost: Hashable, Sendable {
        /// The binary logarithm of N; a guess takes 128 · N · r bytes of memory.
        let logarithmOfN: UInt8
        let r: UInt32
        let p: UInt32

        /// 32 MiB of memory; one of the settings that OWASP's Password Storage Cheat Sheet calls equally strong.
        public static let standard = Cost(logarithmOfN: 15, r: 8, p: 3)
        /// For tests, which guess nothing.
        package static let trifling = Cost(logarithmOfN: 4, r: 1, p: 1)

        /// In bytes; scrypt's own, and a little around it.
        fileprivate var memory: UInt64 {
            (UInt64(1) << logarithmOfN) * UInt64(r) * 128 + UInt64(r) * UInt64(p) * 128 + 65_536
        }
    }

    private static let length = 32

    private let cost: Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Takes as long as it costs.
    ///
    /// - Parameter salt: 16 random bytes.
    /// - Throws: `OpenSSLError` where there is not that much memory.
    public init(_ password: String, salt: [UInt8], cost: Cost) throws(OpenSSLError) {
        self.cost = cost
        self.salt = salt
        hash = try Self.hash(password, salt, cost)
    }

    /// One that no password is known for: what is looked at where there is none, so that it takes as long.
    ///
    /// - Parameter chance: 32 random bytes.
    public init(ofNothing chance: [UInt8], cost: Cost) {
        self.cost = cost
        salt = Array(chance.prefix(16))
        hash = chance
    }

    /// - Returns: nil for a text of another form.
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

    /// Whether it is of a password; takes as long as it has cost.
    ///
    /// - Throws: `OpenSSLError` where there is not that much memory.
    public func matches(_ password: String) throws(OpenSSLError) -> Bool {
        ConstantTime.areEqual(try Self.hash(password, salt, cost), hash)
    }

    private static func hash(_ password: String, _ salt: [UInt8], _ cost: Cost) throws(OpenSSLError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: length)
        let bytes = password.utf8.map { CChar(bitPattern: $0) }
        let status = EVP_PBE_scrypt(
            bytes, bytes.count, salt, salt.count, UInt64(1) << cost.logarithmOfN, UInt64(cost.r), UInt64(cost.p),
            cost.memory, &hash, length)
        guard status == 1 else { throw OpenSSLError("EVP_PBE_scrypt") }
        return hash
    }
}
