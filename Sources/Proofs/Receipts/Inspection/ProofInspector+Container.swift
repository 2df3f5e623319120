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

    mutating func inspect(container bytes: [UInt8], into draft: inout ProofInspection.Draft) {
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
            case BERTag.integer: container.header.append(.init("version", number(bytes[element.content])))
            case BERTag.sequence:
                let parts = reader.children(of: element)
                container.header.append(.init("contentType", identifier(parts.first, reader)))
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

    private static func add(_ signer: LenientBER.Element, _ reader: LenientBER, to container: inout Container) {
        let parts = reader.children(of: signer)
        let sequences = parts.filter { $0.tag == BERTag.sequence }
        let name = reader.children(of: sequences.first)
        if name.count == 2 {
            let serialNumber = Array(reader.bytes[name[1].content])
            container.signer = (Array(reader.bytes[name[0].encoded]), serialNumber)
            container.header.append(.init("signerSerialNumber", .bytes(serialNumber)))
        }
        let algorithms = sequences.dropFirst().map { reader.children(of: $0).first }
        guard algorithms.count == 2 else { return }
        container.header.append(.init("digestAlgorithm", identifier(algorithms[0], reader)))
        container.header.append(.init("signatureAlgorithm", identifier(algorithms[1], reader)))
        if let octets = parts.first(where: { $0.tag == BERTag.octetString }) {
            let algorithm = algorithms[1].map { ObjectIdentifierDigits.name(of: reader.bytes[$0.content]) }
            container.signature = (algorithm ?? "", reader.octets(of: octets))
        }
    }

    private static func identifier(_ element: LenientBER.Element?, _ reader: LenientBER) -> ProofValue {
        .text(element.map { ObjectIdentifierDigits.name(of: reader.bytes[$0.content]) } ?? "")
    }

    /// The number of an INTEGER. One that is too long is bytes.
    private static func number(_ content: ArraySlice<UInt8>) -> ProofValue {
        guard (1...8).contains(content.count), let first = content.first else { return .bytes(Array(content)) }
        return .number(String(content.reduce(first >= 0x80 ? Int64(-1) : 0) { $0 << 8 | Int64($1) }))
    }

    private mutating func inspect(receipt content: [UInt8], into draft: inout ProofInspection.Draft) {
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
        in set: LenientBER.Element,
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
            fields.append(.init(name ?? "", attribute: type, value))
            if case .omitted = value { break }
        }
        return (fields, isWhole)
    }

    private mutating func value(
        of octets: LenientBER.Element,
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
