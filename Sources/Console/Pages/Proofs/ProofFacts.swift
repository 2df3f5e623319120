import Proofs

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
                    also(spaced(Shown.identifier(signature.algorithm), ProofTree.bytes(signature.bytes)))
                } else {
                    Shown.nothing
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
