import COpenSSL

/// The texts of object identifiers.
enum ObjectIdentifierText {
    /// OpenSSL's short name, such as `CN`; the digits if it has none.
    static func shortName(of identifier: OpaquePointer?) -> String {
        let number = OBJ_obj2nid(identifier)
        guard number != NID_undef, let name = OBJ_nid2sn(number) else { return digits(of: identifier) }
        return String(cString: name)
    }

    /// The digits, such as `1.2.840.113635.100.6.11.1`.
    static func digits(of identifier: OpaquePointer?) -> String {
        guard let identifier else { return "" }
        var buffer = [CChar](repeating: 0, count: 128)
        guard OBJ_obj2txt(&buffer, Int32(buffer.count), identifier, 1) > 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
