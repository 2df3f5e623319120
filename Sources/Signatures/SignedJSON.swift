import StrictJSON

/// A JWS in compact form (RFC 7515 section 7.1) as Apple signs its payloads: ES256, the chain in the header's `x5c`.
///
/// Reading one checks its form only; who signed it is for `isSigned(by:)` and `TrustAnchors` to say.
public struct SignedJSON: Sendable {
    /// The DER of each certificate of `x5c`, leaf first.
    public let certificates: [[UInt8]]
    /// The payload's bytes, believed by nobody yet.
    public let payload: [UInt8]
    private let signingInput: [UInt8]
    private let signature: [UInt8]

    /// - Throws: `SignedJSONError` for anything but three strict base64url segments whose header says ES256 and brings
    ///   certificates.
    public init(compact bytes: [UInt8]) throws(SignedJSONError) {
        let segments = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard segments.count == 3 else { throw .segmentCount }
        guard let header = Base64.decode(segments[0], .urlSafe), let payload = Base64.decode(segments[1], .urlSafe),
            let signature = Base64.decode(segments[2], .urlSafe)
        else { throw .base64 }
        certificates = try Self.certificates(inHeader: header)
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<segments[1].endIndex])
    }

    /// Whether the signature over header and payload holds under a certificate's key.
    public func isSigned(by certificate: Certificate) -> Bool {
        certificate.publicKey.verifiesES256(signature, over: signingInput)
    }

    /// Signs a payload as Apple does: the header is exactly `{"alg":"ES256","x5c":[…]}`.
    ///
    /// - Parameter chain: The signer's certificate first, the root last.
    /// - Returns: The compact form.
    public static func sign(_ payload: JSONValue, with key: PrivateKey, chain: [Certificate]) throws -> String {
        let certificates = chain.map { JSONValue.string(Base64.encode($0.der)) }
        let header = JSONValue.object(["alg": "ES256", "x5c": .array(certificates)])
        let signingInput = [header, payload].map { Base64.encode($0.compactText.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try key.signES256(Array(signingInput.utf8))
        return signingInput + "." + Base64.encode(signature, .urlSafe)
    }

    private static func certificates(inHeader bytes: [UInt8]) throws(SignedJSONError) -> [[UInt8]] {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes) } catch { throw .header(error.message) }
        guard case .object(let header) = value else { throw .header("it is no object") }
        guard header["alg"] == .string("ES256") else { throw .algorithm }
        // Both change how a JWS has to be read (RFC 7515 section 4.1.11, RFC 7797); Apple sends neither.
        guard header["crit"] == nil, header["b64"] == nil else { throw .header("it has a crit or b64 parameter") }
        guard case .array(let values) = header["x5c"], !values.isEmpty else { throw .certificates }
        var certificates: [[UInt8]] = []
        for value in values {
            guard case .string(let text) = value, let der = Base64.decode(text.utf8) else { throw .certificates }
            certificates.append(der)
        }
        return certificates
    }
}
