import Proofs

/// The facts about a proof as a whole.
struct ProofFacts {
    private let inspection: ProofInspection
    private let origin: Origin?

    /// - Parameter origin: The origin of an authentic proof. Nil if it is unknown.
    init(_ inspection: ProofInspection, origin: Origin?) {
        self.inspection = inspection
        self.origin = origin
    }

    var html: HTML {
        HTML {
            Facts.list(facts)
            if !inspection.defects.isEmpty {
                ul(.class("problem")) { for defect in inspection.defects { li { defect.sentence } } }
            }
        }
    }

    private var facts: [(name: Phrase, value: HTML)] {
        [
            (Phrase("Kind", "종류"), HTML { inspection.kind.title }),
            (Phrase("Origin", "출처"), Shown.identifier(origin?.rawValue)),
            (
                Phrase("Size", "크기"),
                HTML { Phrase("\(inspection.size) bytes", "\(inspection.size)바이트") }
            ),
            (Phrase("Chain judged at", "사슬을 판정한 시점"), Shown.moment(inspection.moment)),
            (Phrase("Anchor", "신뢰 앵커"), anchor),
            (Phrase("Signature", "서명"), signature),
            (
                Phrase("SHA-256 of the signed bytes", "서명된 바이트의 SHA-256"),
                Shown.identifier(inspection.digest?.hexadecimal)
            ),
        ]
    }

    private var anchor: HTML {
        guard let anchor = inspection.anchor else {
            return Shown.badge(Phrase("unknown anchor", "알 수 없는 앵커"), .bad)
        }
        return HTML {
            data(anchor.certificate.subjectName.description)
            plain(" ")
            Shown.badge(anchor.realm.title)
        }
    }

    private var signature: HTML {
        guard let signature = inspection.signature else { return Shown.nothing }
        return HTML {
            switch signature.matchesSigner {
            case true: Shown.badge(Phrase("made with the signer's key", "서명자의 키로 서명됨"), .good)
            case false: Shown.badge(Phrase("not made with the signer's key", "서명자의 키로 서명되지 않음"), .bad)
            case nil: Shown.badge(Phrase("cannot be checked", "확인할 수 없음"), .warning)
            }
            plain(" ")
            Shown.identifier(signature.algorithm)
            plain(" ")
            ProofTree.bytes(signature.bytes)
        }
    }
}

extension Realm {
    var title: Phrase {
        switch self {
        case .apple: Phrase(same: "Apple")
        case .xcode: Phrase(same: "Xcode")
        case .local: Phrase("local App Store", "로컬 App Store")
        }
    }
}

extension ProofInspection.Kind {
    var title: Phrase {
        switch self {
        case .transaction: Phrase("Signed transaction", "서명된 거래")
        case .renewalInfo: Phrase("Signed renewal information", "서명된 갱신 정보")
        case .notification: Phrase("App Store notification", "App Store 알림")
        case .appTransaction: Phrase("Signed app transaction", "서명된 앱 거래")
        case .otherSignedJSON: Phrase("JWS with another payload", "다른 내용의 JWS")
        case .appReceipt: Phrase("App receipt", "앱 영수증")
        case .otherContainer: Phrase("Container with other content", "다른 내용의 컨테이너")
        case .unreadable: Phrase("Not a proof", "증명이 아님")
        }
    }
}

extension ProofDefect {
    /// The defect in a sentence.
    var sentence: Phrase {
        switch self {
        case .tooLarge: Phrase("The proof is too large to be decoded.", "증명이 너무 커서 해독할 수 없습니다.")
        case .encoding:
            Phrase(
                "The bytes are neither DER, nor base64 of it, nor a JWS.", "DER도, DER의 base64도, JWS도 아닙니다.")
        case .segmentCount(let count):
            Phrase("A JWS has three segments. This one has \(count).", "JWS는 세 부분이어야 하지만 이것은 \(count)개입니다.")
        case .base64(let part):
            Phrase(
                "The \(part.title.english) is not strict base64. It is shown up to the first wrong character.",
                "\(part.title.korean)의 base64가 올바르지 않습니다. 처음 잘못된 문자까지 보여 줍니다.")
        case .json(let part, let error):
            Phrase(
                "The \(part.title.english) is not strict JSON: \(error.message).",
                "\(part.title.korean)의 JSON이 올바르지 않습니다(\(error.offset)번째 바이트): \(error.message).")
        case .structure(let part):
            Phrase(
                "The \(part.title.english) ends too early or has another structure than Apple's.",
                "\(part.title.korean)의 끝이 잘렸거나 Apple의 구조와 다릅니다.")
        case .tooManyValues: Phrase("The proof has too many values. Some are left out.", "값이 너무 많아 일부를 생략했습니다.")
        }
    }
}

extension ProofDefect.Part {
    fileprivate var title: Phrase {
        switch self {
        case .proof: Phrase("proof", "증명")
        case .header: Phrase("header", "헤더")
        case .payload: Phrase("payload", "내용")
        case .signature: Phrase("signature", "서명")
        }
    }
}
