/// The decoding of a JWS.
extension ProofInspector {
    mutating func inspect(compact proof: [UInt8], into draft: inout ProofInspection.Draft) {
        let segments = proof.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if segments.count != 3 { draft.defects.append(.segmentCount(segments.count)) }
        draft.kind = .otherSignedJSON
        let header = json(segments[0], .header, into: &draft)
        let payload = segments.count > 1 ? json(segments[1], .payload, into: &draft) : nil
        if let payload {
            if case .object(let object) = payload.value { draft.kind = Self.kind(of: object) }
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

    /// A segment of JSON, or its text if it is none.
    private struct Segment {
        let result: Result<JSONValue, JSONSyntaxError>
        let text: String

        var value: JSONValue? { try? result.get() }
    }

    private func bytes(
        _ segment: ArraySlice<UInt8>,
        _ part: ProofDefect.Part,
        into draft: inout ProofInspection.Draft
    ) -> [UInt8] {
        if let bytes = Base64.decode(segment, .urlSafe) { return bytes }
        draft.defects.append(.base64(part))
        return LenientBase64.decode(segment)
    }

    private func json(
        _ segment: ArraySlice<UInt8>,
        _ part: ProofDefect.Part,
        into draft: inout ProofInspection.Draft
    ) -> Segment? {
        let bytes = bytes(segment, part, into: &draft)
        let result = Result { () throws(JSONSyntaxError) in try JSONParser.parse(bytes) }
        if case .failure(let error) = result { draft.defects.append(.json(part, error)) }
        return bytes.isEmpty ? nil : Segment(result: result, text: String(decoding: bytes, as: UTF8.self))
    }

    private static func kind(of payload: JSONObject) -> ProofInspection.Kind {
        switch SignedPayload.kind(of: payload) {
        case .transaction: .transaction
        case .renewalInfo: .renewalInfo
        case .notification: .notification
        case .appTransaction: .appTransaction
        case nil: .otherSignedJSON
        }
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
                    member.key,
                    member.key.hasSameBytes(as: "x5c") ? .certificates(certificates) : value(member.value, member.key))
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
                if case .omitted = value { return .fields(fields + [.init(member.key, .omitted)]) }
                fields.append(.init(member.key, value))
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
            guard name.utf8.suffix(4).elementsEqual("Date".utf8),
                let date = try? PayloadFields([name: value]).date(name)
            else {
                return .number(number.text)
            }
            return .date(date, stated: number.text)
        case .bool(let bool): return .bool(bool)
        case .null: return .null
        }
    }
}
