import Commerce
import Signatures
import StrictJSON

/// Checks proofs of purchase: app receipts, and the signed JSON of transactions, renewals, notifications and apps.
///
/// The order of the checks is that of `ProofRefusal.Step`. Nothing of a payload is believed before its signature holds;
/// its date alone is read earlier, to choose the moment at which the chain is judged.
public struct ProofVerifier: Sendable {
    /// The largest proof looked at, in bytes. Apple's receipt of 187 purchases has 79 KB.
    public static let maximumSize = 1 << 20
    /// How far ahead of our clock a proof may be dated, in milliseconds: clocks differ, and a receipt comes at once.
    static let clockTolerance: Int64 = 60_000

    private let anchors: TrustAnchors
    private let clock: any WallClock

    public init(anchors: TrustAnchors, clock: any WallClock) {
        self.anchors = anchors
        self.clock = clock
    }

    /// Checks an app receipt in base64 or DER, or a JWS in compact form.
    public func verify(
        _ proof: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        guard proof.count <= Self.maximumSize else { throw ProofRefusal(.tooLarge) }
        switch try ProofForm(of: proof) {
        case .appReceipt(let container): return try verify(container: container, expecting: expectations)
        case .signedJSON: return try verify(compact: proof, expecting: expectations)
        }
    }

    private func verify(
        container bytes: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        let signedData: SignedData
        do { signedData = try SignedData(ber: bytes) } catch { throw ProofRefusal(error) }
        let certificates = signedData.certificates.compactMap { Certificate(der: $0) }
        guard let leaf = signedData.signerCertificate(among: certificates) else {
            throw ProofRefusal(.signerCertificateMissing)
        }
        let realm = try judgeChain(
            leaf: leaf, others: certificates.filter { $0 != leaf },
            at: AppReceipt.creationDate(ofPayload: signedData.content))
        guard signedData.isSigned(by: leaf) else { throw ProofRefusal(.signatureInvalid) }

        let receipt: AppReceipt
        do {
            receipt = try AppReceipt(payload: signedData.content)
        } catch {
            throw ProofRefusal(.payloadInvalid, (error as? AppReceiptError)?.message)
        }
        return try accept(
            .appReceipt(receipt), realm: realm, environment: receipt.environment?.rawValue ?? receipt.receiptType,
            signedAt: receipt.creationDate, bundleIdentifier: receipt.bundleIdentifier, bytes: bytes,
            expecting: expectations)
    }

    private func verify(
        compact bytes: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        let signed: SignedJSON
        do { signed = try SignedJSON(compact: bytes) } catch { throw ProofRefusal(error) }
        let certificates = signed.certificates.prefix(2).compactMap { Certificate(der: $0) }
        guard let leaf = certificates.first, certificates.count == min(signed.certificates.count, 2) else {
            throw ProofRefusal(.signerCertificateMissing)
        }
        guard signed.certificates.count == 3 || signed.certificates.count == 1 else { throw ProofRefusal(.chainShape) }
        let payload = Result { try JSONParser.parse(signed.payload) }
        let realm = try judgeChain(
            leaf: leaf, others: Array(certificates.dropFirst()),
            at: SignedPayload.date(of: payload))
        guard signed.isSigned(by: leaf) else { throw ProofRefusal(.signatureInvalid) }

        let content: SignedPayload
        do {
            content = try SignedPayload(payload.get())
        } catch let error as JSONSyntaxError {
            throw ProofRefusal(.payloadInvalid, "In its JSON, \(error.message).")
        } catch {
            throw ProofRefusal(.payloadInvalid, (error as? PayloadError)?.message)
        }
        return try accept(
            content.content, realm: realm, environment: content.environment, signedAt: content.signedAt,
            bundleIdentifier: content.bundleIdentifier, bytes: bytes, expecting: expectations)
    }

    /// - Parameter date: The proof's own, not believed yet; without one, the chain has to be valid now.
    private func judgeChain(
        leaf: Certificate,
        others: [Certificate],
        at date: Timestamp?
    ) throws(ProofRefusal) -> Realm {
        try anchors.judge(leaf: leaf, others: others, at: date ?? clock.now()).realm
    }

    /// The last checks, of what the payload says of itself.
    private func accept(
        _ content: VerifiedProof.Content,
        realm: Realm,
        environment name: String,
        signedAt: Timestamp,
        bundleIdentifier: String?,
        bytes: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        guard signedAt.millisecondsSince1970 <= clock.now().millisecondsSince1970 + Self.clockTolerance else {
            throw ProofRefusal(.signedInFuture, "It is dated \(signedAt.rfc3339).")
        }
        guard let environment = AppStoreEnvironment(rawValue: name) else {
            throw ProofRefusal(.payloadInvalid, "The environment \"\(name.prefix(32))\" is none of Apple's.")
        }
        guard let origin = Origin(realm: realm, environment: environment) else {
            throw ProofRefusal(
                .originNotAccepted, "A signer of \(realm.rawValue) does not vouch for \(environment.rawValue).")
        }
        try expectations.check(bundleIdentifier: bundleIdentifier, environment: environment, origin: origin)
        return VerifiedProof(
            content: content, origin: origin, environment: environment, signedAt: signedAt,
            bundleIdentifier: bundleIdentifier, digest: DigestAlgorithm.sha256.digest(of: bytes))
    }
}

extension ProofRefusal {
    init(_ error: SignedDataError) {
        switch error {
        case .malformed: self.init(.containerInvalid, "It is no PKCS#7 SignedData.")
        case .contentMissing: self.init(.containerInvalid, "It holds no content.")
        case .signerCount(let count): self.init(.containerInvalid, "It has \(count) signers instead of one.")
        case .signedAttributes: self.init(.containerInvalid, "It has signed attributes.")
        case .algorithm: self.init(.algorithmNotAllowed)
        }
    }

    init(_ error: SignedJSONError) {
        switch error {
        case .segmentCount: self.init(.encodingInvalid)
        case .base64: self.init(.encodingInvalid, "A segment of the JWS is not base64url without padding.")
        case .header(let reason): self.init(.containerInvalid, "Of the JWS header, \(reason).")
        case .algorithm: self.init(.algorithmNotAllowed, "Only ES256 is.")
        case .certificates: self.init(.signerCertificateMissing)
        }
    }
}
