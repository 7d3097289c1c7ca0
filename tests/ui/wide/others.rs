use table_core::{Entity, Projection};

#[derive(Entity)]
#[entity(kind = "year", wide, version = 1, former)]
#[key(partition = "{station}", row = "year_{year:04}")]
struct Former {
    station: String,
    year: u32,
    #[part]
    rain: f64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "sums", wide)]
#[key(partition = "{station}", row = "sums")]
#[summary(of = Day)]
struct Sums {
    station: String,
    #[summary(count)]
    days: u64,
    #[part]
    #[summary(sum = rain)]
    rain: i64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "day")]
#[key(partition = "{station}", row = "day_{day:06}")]
#[summarized_in(Sums)]
#[copied_into(Year)]
struct Day {
    station: String,
    day: u32,
    rain: i64,
}

#[derive(Projection)]
#[projection(of = Day)]
struct Rain {
    rain: i64,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "year", wide)]
#[key(partition = "{station}", row = "year_{wettest:06}")]
struct Year {
    station: String,
    wettest: u32,
    #[part]
    #[copy_of(Day, key(station, wettest))]
    day: Option<Rain>,
}

#[derive(Entity)]
#[entity(table = "Weather", kind = "many", wide)]
#[key(partition = "{station}", row = "many_{year:04}")]
#[index(by_00, row = "i00_{year:04}", copy = keys)]
#[index(by_01, row = "i01_{year:04}", copy = keys)]
#[index(by_02, row = "i02_{year:04}", copy = keys)]
#[index(by_03, row = "i03_{year:04}", copy = keys)]
#[index(by_04, row = "i04_{year:04}", copy = keys)]
#[index(by_05, row = "i05_{year:04}", copy = keys)]
#[index(by_06, row = "i06_{year:04}", copy = keys)]
#[index(by_07, row = "i07_{year:04}", copy = keys)]
#[index(by_08, row = "i08_{year:04}", copy = keys)]
#[index(by_09, row = "i09_{year:04}", copy = keys)]
#[index(by_10, row = "i10_{year:04}", copy = keys)]
#[index(by_11, row = "i11_{year:04}", copy = keys)]
#[index(by_12, row = "i12_{year:04}", copy = keys)]
#[index(by_13, row = "i13_{year:04}", copy = keys)]
#[index(by_14, row = "i14_{year:04}", copy = keys)]
#[index(by_15, row = "i15_{year:04}", copy = keys)]
#[index(by_16, row = "i16_{year:04}", copy = keys)]
#[index(by_17, row = "i17_{year:04}", copy = keys)]
#[index(by_18, row = "i18_{year:04}", copy = keys)]
#[index(by_19, row = "i19_{year:04}", copy = keys)]
#[index(by_20, row = "i20_{year:04}", copy = keys)]
#[index(by_21, row = "i21_{year:04}", copy = keys)]
#[index(by_22, row = "i22_{year:04}", copy = keys)]
#[index(by_23, row = "i23_{year:04}", copy = keys)]
#[index(by_24, row = "i24_{year:04}", copy = keys)]
#[index(by_25, row = "i25_{year:04}", copy = keys)]
#[index(by_26, row = "i26_{year:04}", copy = keys)]
#[index(by_27, row = "i27_{year:04}", copy = keys)]
#[index(by_28, row = "i28_{year:04}", copy = keys)]
#[index(by_29, row = "i29_{year:04}", copy = keys)]
#[index(by_30, row = "i30_{year:04}", copy = keys)]
#[index(by_31, row = "i31_{year:04}", copy = keys)]
#[index(by_32, row = "i32_{year:04}", copy = keys)]
#[index(by_33, row = "i33_{year:04}", copy = keys)]
#[index(by_34, row = "i34_{year:04}", copy = keys)]
#[index(by_35, row = "i35_{year:04}", copy = keys)]
#[index(by_36, row = "i36_{year:04}", copy = keys)]
#[index(by_37, row = "i37_{year:04}", copy = keys)]
#[index(by_38, row = "i38_{year:04}", copy = keys)]
#[index(by_39, row = "i39_{year:04}", copy = keys)]
#[index(by_40, row = "i40_{year:04}", copy = keys)]
#[index(by_41, row = "i41_{year:04}", copy = keys)]
#[index(by_42, row = "i42_{year:04}", copy = keys)]
#[index(by_43, row = "i43_{year:04}", copy = keys)]
#[index(by_44, row = "i44_{year:04}", copy = keys)]
#[index(by_45, row = "i45_{year:04}", copy = keys)]
#[index(by_46, row = "i46_{year:04}", copy = keys)]
#[index(by_47, row = "i47_{year:04}", copy = keys)]
struct TooMany {
    station: String,
    year: u32,
    #[part]
    rain: f64,
    #[part]
    sun: f64,
}

fn main() {}
