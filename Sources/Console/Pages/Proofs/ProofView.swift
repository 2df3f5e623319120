import Entitlements
import Proofs
import Vocabulary

extension InspectedProof {
    /// The decoded proof with the result of each check.
    @HTMLBuilder var view: HTML {
        h2 { "Verdict" }
        p {
            verdict.isAccepted ? Shown.badge("Accepted", .good) : Shown.badge("Refused", .bad)
            plain(" ")
            if let failure = verdict.failure {
                Shown.identifier(failure.code)
            } else {
                "Every check passes. Whether a user may have the purchase is checked at the redemption."
            }
        }
        Listing.table("Checks in their order", of: ProofVerdict.Check.allCases, empty: "No checks.") {
            column("Check") { $0.words.title }
            column("Result") { badge(of: $0) }
            column("Finding and remedy") { check in
                if case .failed(let failure) = verdict[check] {
                    p { Shown.identifier(failure.code) }
                    if let explanation = RefusalRemedy(code: failure.code) {
                        p { explanation.causePhrase }
                        p { explanation.remedyPhrase }
                    }
                    p(.class("note")) { data(failure.message) }
                } else {
                    check.words.meaning
                }
            }
        }
        h2 { "Proof" }
        section(.class("card")) { inspection.facts(origin: origin) }
        h2 { "Header" }
        section(.class("card")) { Self.tree(inspection.header) }
        h2 { "Certificates" }
        inspection.certificateList
        h2 { "Payload" }
        section(.class("card")) { Self.tree(inspection.payload) }
    }

    private static func tree(_ value: ProofValue?) -> HTML {
        value.map { ProofTree.html($0) } ?? emptyNote("Unreadable.")
    }

    private func badge(of check: ProofVerdict.Check) -> HTML {
        switch verdict[check] {
        case .passed: Shown.badge("passed", .good)
        case .failed: Shown.badge("failed", .bad)
        case .notReached: Shown.badge("not reached")
        case .notNeeded: Shown.badge("not needed")
        }
    }
}

extension ProofVerdict.Check {
    var words: (title: Phrase, meaning: Phrase) {
        switch self {
        case .size: ("Size", "At most 8 MiB, a JWS at most 1 MiB.")
        case .encoding: ("Encoding", "DER, base64 of DER, or a JWS.")
        case .container: ("Container", "PKCS#7 with one signer, or a JWS with ES256 and its certificates.")
        case .chain: ("Chain", "Leaf, intermediate and a trusted root, each valid at the proof's date.")
        case .extensions: ("Extensions", "Apple's extensions in leaf and intermediate.")
        case .signature: ("Signature", "Made with the leaf's key over these bytes.")
        case .payload: ("Payload", "Apple's format, and no date in the future.")
        case .appAndOrigin: ("App and origin", "An app of this service, and an accepted origin.")
        case .product: ("Product", "A product of the app's catalog.")
        }
    }
}

extension ProofInspection {
    /// The facts about the proof as a whole.
    ///
    /// - Parameter origin: The origin of an authentic proof. Nil if it is unknown.
    @HTMLBuilder func facts(origin: Origin?) -> HTML {
        Facts.list {
            fact("Kind") { self.kind.title }
            fact("Origin") { Shown.origin(origin) }
            fact("Size") { "\(self.size) bytes" }
            fact("Chain judged at") { Shown.moment(self.moment) }
            fact("Anchor") {
                if let anchor = self.anchor {
                    spaced(data(anchor.certificate.subjectName.description), Shown.badge(anchor.realm.title))
                } else if let key = self.appKey {
                    spaced(data(key.packageName), Shown.badge(key.realm.title))
                } else {
                    Shown.badge("unknown anchor", .bad)
                }
            }
            fact("Signature") {
                if let signature = self.signature {
                    switch signature.matchesSigner {
                    case true?: Shown.badge("made with the signer's key", .good)
                    case false?: Shown.badge("not made with the signer's key", .bad)
                    case nil: Shown.badge("cannot be checked", .warning)
                    }
                    also(spaced(Shown.identifier(signature.algorithm), signature.bytes.map(ProofTree.bytes)))
                }
            }
            fact("SHA-256 of the signed bytes") { Shown.identifier(self.digest?.hexadecimal) }
        }
        if !self.defects.isEmpty {
            ul(.class("problem")) { for defect in self.defects { li { defect.sentence } } }
        }
    }
}

extension Realm {
    var title: Phrase {
        switch self {
        case .apple: Phrase(same: "Apple")
        case .xcode: Phrase(same: "Xcode")
        case .local: "local App Store"
        case .google: Phrase(same: "Google Play")
        case .localPlay: "local Google Play"
        }
    }
}

extension ProofInspection.Kind {
    var title: Phrase {
        switch self {
        case .transaction: "Signed transaction"
        case .renewalInfo: "Signed renewal information"
        case .notification: "App Store notification"
        case .appTransaction: "Signed app transaction"
        case .realtimeRequest: "Question for a retention message"
        case .otherSignedJSON: "JWS with another payload"
        case .appReceipt: "App receipt"
        case .signedPurchase: "Signed purchase of Google Play"
        case .otherContainer: "Container with other content"
        case .unreadable: "Not a proof"
        }
    }
}

extension ProofDefect {
    var sentence: Phrase {
        switch self {
        case .tooLarge: "The proof is too large to be decoded."
        case .encoding: "The bytes are neither DER, nor base64 of it, nor a JWS."
        case .segmentCount(let count): "A JWS has three segments. This one has \(count)."
        case .base64(let part): "The \(part.title) is not strict base64. It is shown up to the first wrong character."
        case .json(let part, let error):
            "The \(part.title) is not strict JSON: \(error.message).\(korean: error.offset)"
        case .structure(let part): "The \(part.title) ends too early or has another structure than Apple's."
        case .tooManyValues: "The proof has too many values. Some are left out."
        }
    }
}

extension ProofDefect.Part {
    fileprivate var title: Phrase {
        switch self {
        case .proof: "proof"
        case .header: "header"
        case .payload: "payload"
        case .signature: "signature"
        }
    }
}

extension ProofInspection {
    @HTMLBuilder var certificateList: HTML {
        if self.certificates.isEmpty { emptyNote("The proof has no readable certificates.") }
        if self.certificateCount > self.certificates.count {
            note("The first \(self.certificates.count) of \(self.certificateCount) certificates.")
        }
        div(.class("columns")) {
            for certificate in self.certificates {
                section(.class("card")) { facts(of: certificate) }
            }
        }
    }

    @HTMLBuilder private func facts(of inspected: InspectedCertificate) -> HTML {
        if let certificate = inspected.certificate {
            p { badges(inspected, certificate) }
            Facts.list {
                fact("Subject") { data(certificate.subjectName.description) }
                fact("Issuer") { data(certificate.issuerName.description) }
                fact("Serial number") { Shown.identifier(certificate.serialNumber.hexadecimal) }
                fact("Valid from") { Shown.moment(Timestamp(secondsSince1970: certificate.notBefore)) }
                fact("Valid until") { Shown.moment(Timestamp(secondsSince1970: certificate.notAfter)) }
                fact("Key") { plain(certificate.publicKey.kind.text) }
                fact("Apple's extensions") {
                    if !certificate.appleExtensions.isEmpty {
                        ul(.class("plain")) {
                            for identifier in certificate.appleExtensions {
                                li {
                                    Shown.identifier(identifier)
                                    if let known = AppleExtension(rawValue: identifier) { also(known.title) }
                                }
                            }
                        }
                    }
                }
                fact(Phrase(same: "SHA-256")) { Shown.identifier(certificate.fingerprint.hexadecimal) }
            }
        } else {
            emptyNote("\(inspected.der.count) bytes that are no certificate.")
        }
    }

    @HTMLBuilder private func badges(_ inspected: InspectedCertificate, _ certificate: Certificate) -> HTML {
        if inspected.isSigner { Shown.badge("signer") }
        plain(" ")
        if certificate.isAuthority { Shown.badge("authority") }
        plain(" ")
        if certificate == self.anchor?.certificate {
            Shown.badge("trusted root", .good)
        } else if inspected.isOnTrustedPath {
            Shown.badge("leads to the trusted root", .good)
        } else {
            Shown.badge("not trusted", .bad)
        }
        plain(" ")
        // OpenSSL treats the last second as expired.
        let second = self.moment.secondsSince1970
        if certificate.notBefore <= second && second < certificate.notAfter {
            Shown.badge("valid at the proof's date", .good)
        } else {
            Shown.badge("not valid at the proof's date", .bad)
        }
    }
}

extension AppleExtension {
    fileprivate var title: Phrase {
        switch self {
        case .receiptSigning: "receipt signing"
        case .worldwideDeveloperRelations: "Worldwide Developer Relations"
        }
    }
}

extension PublicKey.Kind {
    fileprivate var text: String {
        switch self {
        case .ellipticCurve(let curve): "ECDSA \(curve.rawValue)"
        case .rsa(let bits): "RSA \(bits)"
        case .ed25519: "Ed25519"
        case .other: "–"
        }
    }
}
