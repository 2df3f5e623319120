/// The decoder of inspections. It limits the number of values and of nested proofs, because anybody may send any bytes.
struct ProofInspector {
    private static let maximumValues = 10_000
    private static let maximumNestedProofs = 8
    private static let maximumDepth = 3

    let anchors: TrustAnchors
    let appKeys: [AppKey]
    let now: Timestamp
    var values = 0
    var nestedProofs = 0
    var depth = 0

    mutating func inspect(_ proof: [UInt8]) -> ProofInspection {
        var draft = ProofInspection.Content(size: proof.count, moment: now)
        if proof.count > ProofVerifier.maximumTextSize {
            draft.defects.append(.tooLarge)
        } else if let purchase = try? SignedPurchase(json: proof) {
            inspect(purchase, into: &draft)
        } else {
            inspect(bare: (try? UnityReceipt(proof))?.proof ?? proof, into: &draft)
        }
        if depth == 0, values > Self.maximumValues { draft.defects.append(.tooManyValues) }
        return ProofInspection(draft)
    }

    private mutating func inspect(bare proof: [UInt8], into draft: inout ProofInspection.Content) {
        if proof.first == BERTag.sequence {
            inspect(container: proof, into: &draft)
        } else if proof.contains(UInt8(ascii: ".")) {
            inspect(compact: proof, into: &draft)
        } else {
            let container = LenientBase64.decode(proof[...])
            if container.first == BERTag.sequence {
                if Base64.decode(proof) == nil { draft.defects.append(.base64(.proof)) }
                inspect(container: container, into: &draft)
            } else {
                draft.defects.append(.encoding)
            }
        }
    }

    /// Counts a value.
    ///
    /// - Returns: False if there are too many.
    mutating func count() -> Bool {
        values += 1
        return values <= Self.maximumValues
    }

    /// The inspection of a JWS inside the proof; nil if the text is none, or if there are too many.
    mutating func nestedProof(_ text: String) -> ProofInspection? {
        // The base64url of `{"`.
        guard text.utf8.starts(with: "eyJ".utf8), text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2,
            depth < Self.maximumDepth, nestedProofs < Self.maximumNestedProofs
        else { return nil }
        nestedProofs += 1
        depth += 1
        defer { depth -= 1 }
        return inspect(Array(text.utf8))
    }

    /// Fills in the certificates and the anchor of the signer's chain.
    ///
    /// - Parameter isSigner: Returns true for the certificate of the signer.
    /// - Returns: The signer's certificate.
    func inspect(
        certificates encoded: [[UInt8]],
        into draft: inout ProofInspection.Content,
        isSigner: (Int, Certificate) -> Bool
    ) -> Certificate? {
        draft.certificateCount = encoded.count
        let shown = encoded.prefix(ProofInspection.maximumCertificates).map { Certificate(der: $0) }
        let signer = shown.enumerated().first { index, certificate in
            certificate.map { isSigner(index, $0) } ?? false
        }?.offset
        let leaf = signer.flatMap { shown[$0] }
        let others = shown.compactMap(\.self).filter { $0 != leaf }
        let trusted = leaf.flatMap { anchors.trustedPath(from: $0, through: others, at: draft.moment) }
        draft.anchor = trusted?.anchor
        draft.certificates = zip(encoded, shown).enumerated().map { index, pair in
            InspectedCertificate(
                der: pair.0, certificate: pair.1, isSigner: index == signer,
                isOnTrustedPath: pair.1.map { trusted?.path.contains($0) ?? false } ?? false)
        }
        return leaf
    }
}

/// The decoding of a PKCS#7 container with an app receipt.
extension ProofInspector {
    /// The parts of a SignedData, as far as they are there.
    private struct Container {
        var content: [UInt8]?
        var certificates: [[UInt8]] = []
        var header: [ProofValue.Field] = []
        /// The DER of the issuer's name and the bytes of the serial number, which identify the signer's certificate.
        var signer: (issuer: [UInt8], serialNumber: [UInt8])?
        var signature: (algorithm: String, bytes: [UInt8])?
    }

    mutating func inspect(container bytes: [UInt8], into draft: inout ProofInspection.Content) {
        draft.kind = .otherContainer
        let container = Self.container(bytes)
        let strict = try? SignedData(ber: bytes)
        if strict == nil { draft.defects.append(.structure(.proof)) }
        if let content = container.content {
            draft.moment = AppReceipt.creationDate(ofPayload: content) ?? now
            draft.digest = strict.map { _ in DigestAlgorithm.sha256.digest(of: content) }
            inspect(receipt: content, into: &draft)
        }
        let leaf = inspect(certificates: container.certificates, into: &draft) { _, certificate in
            container.signer.map {
                certificate.issuer == $0.issuer && certificate.serialNumber == $0.serialNumber
            } ?? false
        }
        draft.header = container.header.isEmpty ? nil : .fields(container.header)
        draft.signature = container.signature.map { signature in
            InspectedSignature(
                algorithm: signature.algorithm, bytes: signature.bytes,
                matchesSigner: strict.flatMap { strict in
                    leaf.map { strict.isSigned(by: $0.publicKey, digest: strict.contentDigest) }
                })
        }
    }

    private static func container(_ bytes: [UInt8]) -> Container {
        var container = Container()
        let reader = LenientBER(bytes: bytes)
        let outer = reader.children(of: reader.elements(in: bytes.indices).elements.first)
        let tagged = outer.first { $0.tag == BERTag.context0 }
        let signedData = reader.children(of: reader.children(of: tagged).first)
        for (index, element) in signedData.enumerated() {
            switch element.tag {
            case BERTag.integer: container.header.append(.init(name: "version", value: number(bytes[element.content])))
            case BERTag.sequence:
                let parts = reader.children(of: element)
                container.header.append(.init(name: "contentType", value: identifier(parts.first, reader)))
                let content = reader.children(of: parts.first { $0.tag == BERTag.context0 }).first
                container.content = content.map { reader.octets(of: $0) }
            case BERTag.context0:
                container.certificates = reader.children(of: element).map { Array(bytes[$0.encoded]) }
            // The first set has the algorithms of the digests, the second one the signers.
            case BERTag.set where index > 1:
                for signer in reader.children(of: element).prefix(1) { add(signer, reader, to: &container) }
            default: break
            }
        }
        return container
    }

    private static func add(_ signer: BERElement, _ reader: LenientBER, to container: inout Container) {
        let parts = reader.children(of: signer)
        let sequences = parts.filter { $0.tag == BERTag.sequence }
        let name = reader.children(of: sequences.first)
        if name.count == 2 {
            let serialNumber = Array(reader.bytes[name[1].content])
            container.signer = (Array(reader.bytes[name[0].encoded]), serialNumber)
            container.header.append(.init(name: "signerSerialNumber", value: .bytes(serialNumber)))
        }
        let algorithms = sequences.dropFirst().map { reader.children(of: $0).first }
        guard algorithms.count == 2 else { return }
        container.header.append(.init(name: "digestAlgorithm", value: identifier(algorithms[0], reader)))
        container.header.append(.init(name: "signatureAlgorithm", value: identifier(algorithms[1], reader)))
        if let octets = parts.first(where: { $0.tag == BERTag.octetString }) {
            let algorithm = algorithms[1].map { ObjectIdentifierDigits.name(of: reader.bytes[$0.content]) }
            container.signature = (algorithm ?? "", reader.octets(of: octets))
        }
    }

    private static func identifier(_ element: BERElement?, _ reader: LenientBER) -> ProofValue {
        .text(element.map { ObjectIdentifierDigits.name(of: reader.bytes[$0.content]) } ?? "")
    }

    /// The number of an INTEGER. One that is too long is bytes.
    private static func number(_ content: ArraySlice<UInt8>) -> ProofValue {
        guard (1...8).contains(content.count), let first = content.first else { return .bytes(Array(content)) }
        return .number(String(content.reduce(first >= 0x80 ? Int64(-1) : 0) { $0 << 8 | Int64($1) }))
    }

    private mutating func inspect(receipt content: [UInt8], into draft: inout ProofInspection.Content) {
        let reader = LenientBER(bytes: content)
        let root = reader.elements(in: content.indices)
        guard let set = root.elements.first, set.tag == BERTag.set else {
            draft.defects.append(.structure(.payload))
            draft.payload = .bytes(content)
            return
        }
        let (fields, isWhole) = attributes(in: set, reader, isPurchase: false)
        if !isWhole || !root.isWhole { draft.defects.append(.structure(.payload)) }
        if !fields.isEmpty { draft.kind = .appReceipt }
        draft.payload = .fields(fields)
    }

    /// The attributes of a set, and true if all of them could be read.
    ///
    /// - Parameter isPurchase: True for the attributes of one purchase, inside which nothing is nested.
    private mutating func attributes(
        in set: BERElement,
        _ reader: LenientBER,
        isPurchase: Bool
    ) -> (fields: [ProofValue.Field], isWhole: Bool) {
        var fields: [ProofValue.Field] = []
        let (elements, isWhole) = reader.elements(in: set.content)
        for element in elements {
            let parts = reader.children(of: element)
            guard element.tag == BERTag.sequence, parts.count == 3,
                case .number(let digits) = Self.number(
                    reader.bytes[parts[0].content]), let type = Int(digits)
            else { return (fields, false) }
            let value = value(of: parts[2], type, reader, isInPurchase: isPurchase)
            let name =
                isPurchase
                ? InAppPurchase.Attribute(rawValue: type).map { "\($0)" }
                : AppReceipt.Attribute(rawValue: type).map { "\($0)" }
            fields.append(.init(name: name ?? "", attribute: type, value: value))
            if case .omitted = value { break }
        }
        return (fields, isWhole)
    }

    private mutating func value(
        of octets: BERElement,
        _ type: Int,
        _ reader: LenientBER,
        isInPurchase: Bool
    ) -> ProofValue {
        guard count() else { return .omitted }
        let bytes = reader.bytes[octets.content]
        let (elements, isWhole) = reader.elements(in: octets.content)
        guard !AppReceipt.opaqueAttributes.contains(type), isWhole, elements.count == 1, let element = elements.first
        else { return .bytes(Array(bytes)) }
        let content = reader.bytes[element.content]
        switch element.tag {
        case BERTag.integer: return Self.number(content)
        case BERTag.utf8String: return .text(String(decoding: content, as: UTF8.self))
        case BERTag.ia5String:
            let text = String(decoding: content, as: UTF8.self)
            return Timestamp(rfc3339: text).map { .date($0, stated: text) } ?? .text(text)
        case BERTag.set where !isInPurchase:
            let (fields, isWhole) = attributes(in: element, reader, isPurchase: true)
            return isWhole ? .fields(fields) : .bytes(Array(bytes))
        default: return .bytes(Array(bytes))
        }
    }
}

/// The decoding of a JWS.
extension ProofInspector {
    mutating func inspect(compact proof: [UInt8], into draft: inout ProofInspection.Content) {
        let segments = proof.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if segments.count != 3 { draft.defects.append(.segmentCount(segments.count)) }
        draft.kind = .otherSignedJSON
        let header = json(segments[0], .header, into: &draft)
        let payload = segments.count > 1 ? json(segments[1], .payload, into: &draft) : nil
        if let payload {
            if case .object(let object) = payload.value { draft.kind = SignedPayload.kind(of: object) }
            draft.moment = SignedPayload.date(of: payload.result) ?? now
        }
        let certificates = Self.certificates(in: header?.value)
        let leaf = inspect(certificates: certificates, into: &draft) { index, _ in index == 0 }
        draft.header = header.map { self.header($0, certificates.count) }
        draft.payload = payload.map { value($0) }
        let signed = try? SignedJSON(compact: proof)
        draft.digest = signed.map { $0.digest(continuing: $0.headerDigest) }
        guard segments.count > 2 else { return }
        var algorithm = ""
        if case .object(let object)? = header?.value, case .string(let text) = object["alg"] { algorithm = text }
        draft.signature = InspectedSignature(
            algorithm: algorithm, bytes: bytes(segments[2], .signature, into: &draft),
            matchesSigner: signed.flatMap { signed in
                leaf.map { signed.isSigned(by: $0.publicKey, digest: signed.digest(continuing: signed.headerDigest)) }
            })
    }

    /// Decodes a signed purchase of Google Play.
    private mutating func inspect(_ purchase: SignedPurchase, into draft: inout ProofInspection.Content) {
        draft.kind = .signedPurchase
        draft.digest = DigestAlgorithm.sha256.digest(of: purchase.data)
        let bytes = Base64.decode(purchase.signature)
        if bytes == nil { draft.defects.append(.base64(.signature)) }
        let signature = bytes ?? LenientBase64.decode(purchase.signature[...])
        let key = appKeys.first { $0.publicKey.verifiesRSA(signature, over: purchase.data, digest: .sha1) }
        draft.appKey = key
        draft.signature = InspectedSignature(
            algorithm: "RSA, SHA-1", bytes: signature, matchesSigner: appKeys.isEmpty ? nil : key != nil)
        let result = Result { () throws(JSONSyntaxError) in try JSONParser.parse(purchase.data) }
        if case .failure(let error) = result { draft.defects.append(.json(.payload, error)) }
        draft.payload = value(Segment(result: result, text: String(decoding: purchase.data, as: UTF8.self)))
    }

    /// A segment of JSON, or its text if it is none.
    private struct Segment {
        let result: Result<JSONValue, JSONSyntaxError>
        let text: String

        var value: JSONValue? { try? result.get() }
    }

    private func bytes(
        _ segment: ArraySlice<UInt8>,
        _ part: ProofDefect.Part,
        into draft: inout ProofInspection.Content
    ) -> [UInt8] {
        if let bytes = Base64.decode(segment, .urlSafe) { return bytes }
        draft.defects.append(.base64(part))
        return LenientBase64.decode(segment)
    }

    private func json(
        _ segment: ArraySlice<UInt8>,
        _ part: ProofDefect.Part,
        into draft: inout ProofInspection.Content
    ) -> Segment? {
        let bytes = bytes(segment, part, into: &draft)
        let result = Result { () throws(JSONSyntaxError) in try JSONParser.parse(bytes) }
        if case .failure(let error) = result { draft.defects.append(.json(part, error)) }
        return bytes.isEmpty ? nil : Segment(result: result, text: String(decoding: bytes, as: UTF8.self))
    }

    /// The certificates of a header. One in broken base64 has no bytes.
    private static func certificates(in header: JSONValue?) -> [[UInt8]] {
        guard case .object(let object)? = header, case .array(let values) = object["x5c"] else { return [] }
        return values.map { value in
            guard case .string(let text) = value else { return [] }
            return Base64.decode(Array(text.utf8)[...]) ?? []
        }
    }

    private mutating func header(_ segment: Segment, _ certificates: Int) -> ProofValue {
        guard case .object(let object)? = segment.value else { return value(segment) }
        return .fields(
            object.members.map { member in
                .init(
                    name: member.key,
                    value: member.key.hasSameBytes(as: "x5c")
                        ? .certificates(certificates) : value(member.value, member.key))
            })
    }

    private mutating func value(_ segment: Segment) -> ProofValue {
        segment.value.map { value($0, "") } ?? .text(segment.text)
    }

    private mutating func value(_ value: JSONValue, _ name: String) -> ProofValue {
        guard count() else { return .omitted }
        switch value {
        case .object(let object):
            var fields: [ProofValue.Field] = []
            for member in object.members {
                let value = self.value(member.value, member.key)
                if case .omitted = value { return .fields(fields + [.init(name: member.key, value: .omitted)]) }
                fields.append(.init(name: member.key, value: value))
            }
            return .fields(fields)
        case .array(let elements):
            var list: [ProofValue] = []
            for element in elements {
                let value = self.value(element, name)
                list.append(value)
                if case .omitted = value { break }
            }
            return .list(list)
        case .string(let text): return nestedProof(text).map { .proof($0) } ?? .text(text)
        case .number(let number):
            guard name.utf8.suffix(4).elementsEqual("Date".utf8) || name.utf8.elementsEqual("purchaseTime".utf8),
                let date = try? PayloadFields(object: [name: value]).date(name)
            else {
                return .number(number.text)
            }
            return .date(date, stated: number.text)
        case .bool(let bool): return .bool(bool)
        case .null: return .null
        }
    }
}
