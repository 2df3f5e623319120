extension String {
    /// Combining marks in a non-canonical order.
    ///
    /// Normalization (Unicode Standard Annex 15) must move each U+0316 before all U+0301, so comparing the string can take
    /// quadratic time.
    static func combiningMarks(bytes: Int) -> String {
        // Both marks have two bytes in UTF-8.
        repeatElement("\u{301}", count: bytes / 4).joined() + repeatElement("\u{316}", count: bytes / 4).joined()
    }
}
