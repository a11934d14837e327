use crate::world::run_plain;

#[test]
fn money_is_units_times_prices() {
    // 1,000,000 requests a day, none a duplicate: 2,000,000 write units a day, 60 million a month.
    let told = run_plain(&[
        "estimate",
        "--requests-per-day",
        "1000000",
        "--duplicates",
        "0",
        "--response-size",
        "100",
        "--price-storage",
        "0",
        "--price-recovery",
        "0",
        "--json",
    ]);
    let json = told.json();
    assert_eq!((told.exit, json["write_units_per_day"].as_f64()), (0, Some(2_000_000.0)));
    assert_eq!(json["usd_per_month"].as_f64(), Some(37.5));
    let ways: Vec<_> = json["ways"].as_array().unwrap().iter().map(|way| way["way"].as_str().unwrap()).collect();
    assert_eq!(ways.len(), 5);
    // Three requests of each message, 50 cents a million.
    assert_eq!(json["ways"][4]["usd_per_month"].as_f64(), Some(45.0));
    assert!(json["prices"]["source"].as_str().unwrap().contains("2026-11-30"));
}

#[test]
fn people_get_a_table_the_formulas_and_where_the_prices_are_from() {
    let told = run_plain(&["estimate", "--requests-per-day", "100000"]);
    assert_eq!(told.exit, 0);
    for said in ["this toolkit", "one row", "ElastiCache", "FIFO", "write units", "Amazon DynamoDB pricing"] {
        assert!(told.out.contains(said), "{said} is not in {}", told.out);
    }
}

#[test]
fn what_is_no_load_or_price_is_refused() {
    let rows: [(&[&str], &str); 5] = [
        (&["estimate"], "--requests-per-day"),
        (&["estimate", "--requests-per-day", "0"], "0 is not in 1.."),
        (&["estimate", "--requests-per-day", "1", "--duplicates", "101"], "101 is not in 0..=100"),
        (&["estimate", "--requests-per-day", "1", "--price-writes=-1"], "expected an amount"),
        (&["estimate", "--requests-per-day", "1", "--retention", "forever"], "expected a duration such as 48h or 23d"),
    ];
    for (arguments, said) in rows {
        run_plain(arguments).assert_refused(2, said);
    }
}
