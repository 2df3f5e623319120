/// A JWS in compact form (RFC 7515 section 7.1) like Apple's: ES256, with the chain in the header's `x5c`.
///
/// The initializer checks only the form. `isSigned(by:)` and the validation of the chain verify the signer.
public struct SignedJSON: Sendable {
    /// The first segment. Equal bytes mean the same chain.
    public let header: ArraySlice<UInt8>
    /// The payload's bytes, which are not trusted yet.
    public let payload: [UInt8]
    private let encodedPayload: ArraySlice<UInt8>
    private let signature: [UInt8]

    private static let segmentInvalid = ProofRefusal(
        .encodingInvalid, "A segment of the JWS must be base64url without padding.")

    /// - Throws: `ProofRefusal` unless there are three segments, the last two in strict base64url.
    init(compact bytes: [UInt8]) throws(ProofRefusal) {
        // The search starts at the end, because the header is the longest segment. A point inside the header is not
        // base64url.
        let point = UInt8(ascii: ".")
        guard let second = bytes.lastIndex(of: point), let first = bytes[..<second].lastIndex(of: point) else {
            throw ProofRefusal(.encodingInvalid)
        }
        header = bytes[..<first]
        encodedPayload = bytes[(first + 1)..<second]
        guard let payload = Base64.decode(encodedPayload, .urlSafe),
            let signature = Base64.decode(bytes[(second + 1)...], .urlSafe)
        else { throw Self.segmentInvalid }
        self.payload = payload
        self.signature = signature
    }

    /// The DER of each certificate of `x5c`, leaf first.
    ///
    /// - Throws: `ProofRefusal` unless the header is strict base64url of a JSON object with ES256 and certificates.
    public func certificates() throws(ProofRefusal) -> [[UInt8]] {
        guard !header.contains(UInt8(ascii: ".")) else { throw ProofRefusal(.encodingInvalid) }
        guard let bytes = Base64.decode(header, .urlSafe) else { throw Self.segmentInvalid }
        return try Self.certificates(inHeader: bytes)
    }

    /// The hash state after the header and its point, from which `digest` continues.
    var headerDigest: SHA256State {
        var state = SHA256State()
        state.update(header)
        state.update([UInt8(ascii: ".")])
        return state
    }

    /// Returns the SHA-256 of the signed bytes: header and payload.
    ///
    /// - Parameter headerDigest: The state after this header.
    public func digest(continuing headerDigest: SHA256State) -> [UInt8] {
        var state = headerDigest
        state.update(encodedPayload)
        return state.digest()
    }

    /// True if the signature is valid under the key.
    ///
    /// - Parameter digest: The digest of this JWS.
    public func isSigned(by key: PublicKey, digest: [UInt8]) -> Bool {
        key.verifiesES256(signature, overDigest: digest)
    }

    /// Signs a payload like Apple. The header is exactly `{"alg":"ES256","x5c":[…]}`.
    ///
    /// - Parameter chain: The certificates, from the signer's to the root.
    /// - Returns: The compact form.
    public static func sign(_ payload: JSONValue, with key: PrivateKey, chain: [Certificate]) throws -> String {
        let certificates = chain.map { JSONValue.string(Base64.encode($0.der)) }
        let header = JSONValue.object(["alg": "ES256", "x5c": .array(certificates)])
        let signingInput = [header, payload].map { Base64.encode($0.compactText.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try key.signES256(Array(signingInput.utf8))
        return signingInput + "." + Base64.encode(signature, .urlSafe)
    }

    private static func certificates(inHeader bytes: [UInt8]) throws(ProofRefusal) -> [[UInt8]] {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes) } catch {
            throw ProofRefusal(.containerInvalid, "In the JWS header, \(error.message).")
        }
        guard case .object(let header) = value else {
            throw ProofRefusal(.containerInvalid, "In the JWS header, the value must be an object.")
        }
        guard let algorithm = header.text("alg"), algorithm.hasSameBytes(as: "ES256") else {
            throw ProofRefusal(.algorithmNotAllowed, "Only ES256 is allowed.")
        }
        // Both parameters change the meaning of a JWS (RFC 7515 section 4.1.11, RFC 7797). Apple sends neither.
        guard header["crit"] == nil, header["b64"] == nil else {
            throw ProofRefusal(.containerInvalid, "In the JWS header, the parameters crit and b64 are not allowed.")
        }
        guard case .array(let values) = header["x5c"], !values.isEmpty else {
            throw ProofRefusal(.signerCertificateMissing)
        }
        var certificates: [[UInt8]] = []
        for value in values {
            guard case .string(let text) = value, let der = Base64.decode(Array(text.utf8)[...]) else {
                throw ProofRefusal(.signerCertificateMissing)
            }
            certificates.append(der)
        }
        return certificates
    }
}
