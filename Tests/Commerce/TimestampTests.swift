import Proofs
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", Int64(0)), ("2013-08-01T07:00:00Z", 1_375_340_400),
        ("2000-02-29T23:59:59Z", 951_868_799),
        ("1969-12-31T23:59:59Z", -1), ("4001-01-01T00:00:00Z", 64_092_211_200),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
    ])
    func `dates of receipts are read and written`(text: String, seconds: Int64) {
        #expect(Timestamp(rfc3339: text) == Timestamp(secondsSince1970: seconds))
        #expect(Timestamp(secondsSince1970: seconds).rfc3339 == text)
    }

    @Test(arguments: ["2020-06-01T12:00:00+0100", "2020-06-01T12:00:00+01:00", "2020-06-01T07:30:00-0330"])
    func `offsets are subtracted`(text: String) {
        #expect(Timestamp(rfc3339: text)?.rfc3339 == "2020-06-01T11:00:00Z")
    }

    @Test(arguments: [
        ("2020-09-15T10:15:42.686Z", 686), ("2020-09-15T10:15:42.6Z", 600), ("2020-09-15T10:15:42.0004999999Z", 0),
        ("2020-09-15T11:15:42.06+01:00", 60), ("2020-09-15T10:15:42.99999999999999999999999Z", 999),
    ])
    func `a fraction of a second is rounded down to milliseconds`(text: String, milliseconds: Int64) {
        #expect(
            Timestamp(rfc3339: text) == Timestamp(millisecondsSince1970: 1_600_164_942_000 + milliseconds))
    }

    @Test(arguments: [
        "2020-09-15T10:15:42.Z", "2020-09-15T10:15:42.", "2020-09-15T10:15.5:42Z", "2020-09-15T10:15:42,5Z",
        "2020-09-15T10:15:42.5.5Z", "2020-09-15T10:15:42.٥Z",
        "", "2020-06-01", "2020-06-01T12:00:00", "2020-6-1T12:00:00Z", "2020-13-01T12:00:00Z", "2020-02-30T12:00:00Z",
        "2021-02-29T12:00:00Z", "2020-06-01T24:00:00Z", "2020-06-01T12:60:00Z", "2020-06-01T12:00:00Zx",
        "2020-06-01t12:00:00Z", "2020-06-01T12:00:00+1", "٢٠٢٠-06-01T12:00:00Z",
    ])
    func `other text is refused as a date`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `parts of a second are rounded down`() {
        #expect(Timestamp(millisecondsSince1970: 1_999).secondsSince1970 == 1)
        #expect(Timestamp(millisecondsSince1970: -1).secondsSince1970 == -1)
        #expect(Timestamp(millisecondsSince1970: -1000).secondsSince1970 == -1)
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `every number of milliseconds can be written`(milliseconds: Int64) {
        #expect(!Timestamp(millisecondsSince1970: milliseconds).rfc3339.isEmpty)
    }
}
